# One instance on every node, of higher priority than the services.
# accept: yes

job "system-agent" {
  datacenters = ["dc1"]
  type        = "system"
  priority    = 90

  group "system" {
    task "agent" {
      driver = "raw_exec"

      config {
        command = "/usr/local/bin/shipper"
        args    = ["--path", "/var/log"]
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
