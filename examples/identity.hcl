# A task that reads the secret of its job with its identity.
#
#   reeve var put nomad/jobs/shop user=shop password=@password.txt
#   reeve job run examples/identity.hcl
#   reeve alloc logs -job shop
job "shop" {
  type = "batch"

  group "shop" {
    task "shop" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"logs in as $(reeve var get -item user nomad/jobs/shop)\""]
      }

      identity {
        env = true
      }
    }
  }
}
