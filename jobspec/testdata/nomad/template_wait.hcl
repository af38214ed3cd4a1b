# Changes are collected for a while.
# accept: yes

job "template-wait" {
  datacenters = ["dc1"]

  group "template" {
    task "wait" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "local/app.conf"
        data        = "level = info"
        splay       = "30s"
        wait {
          min = "10s"
          max = "2m"
        }
      }
    }
  }
}
