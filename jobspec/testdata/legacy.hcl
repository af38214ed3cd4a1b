# What old job files still contain.
job "legacy" {
  id          = "legacy-1"
  name        = "legacy"
  datacenters = ["dc1"]

  group "app" {
    max_client_disconnect      = "2h"
    prevent_reschedule_on_lost = true

    task "app" {
      driver = "exec"
      kind   = "plain"

      config {
        command = "/srv/app"
      }

      logs {
        enabled = true
      }

      resources {
        cpu    = "500"
        memory = "256"
        disk   = 100
        iops   = 10

        network {
          mbits = 10
          port "db" {}
          port "admin" {
            static = "8081"
          }
        }
      }

      template {
        data        = "x = 1"
        destination = "local/x"
        vault_grace = "15s"
      }
    }
  }
}
