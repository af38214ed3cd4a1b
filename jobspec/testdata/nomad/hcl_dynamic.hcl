# Blocks for each element of a list and of a map.
# accept: yes
# ends: waits: ${meta.zone} = b

locals {
  ports = { http = 8080, admin = 9090 }
  zones = ["a", "b", "c"]
}

job "fan-out" {
  dynamic "group" {
    for_each = local.zones
    labels   = ["zone-${group.value}"]

    content {
      constraint {
        attribute = "${meta.zone}"
        value     = group.value
      }

      network {
        dynamic "port" {
          for_each = local.ports
          iterator = p
          labels   = [p.key]
          content {
            static = p.value
          }
        }
      }

      task "serve" {
        driver = "exec"
        config {
          command = "/usr/local/bin/serve"
        }
      }
    }
  }
}
