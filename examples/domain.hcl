# A job of a domain: what runs of it is stopped for want of a job only while the
# domain is fresh ("reeve domain fresh -ttl 2m shop"). See docs/domains.md.
job "cart" {
  domain     = "shop"
  annotation = "owned by the shop's deployer"

  group "cart" {
    count = 2

    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["3600"]
      }
    }
  }
}
