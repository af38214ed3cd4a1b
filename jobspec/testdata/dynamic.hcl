# Blocks made from lists and maps.
locals {
  ports = {
    http  = { to = 8080, check = "/healthz" }
    admin = { to = 9000, check = "/admin" }
  }
  regions = ["eu", "us"]
}

job "generated" {
  dynamic "group" {
    for_each = local.regions
    labels   = ["app-${group.value}"]

    content {
      count = group.key + 1

      network {
        dynamic "port" {
          for_each = local.ports
          labels   = [port.key]
          content {
            to = port.value.to
          }
        }
      }

      dynamic "service" {
        for_each = local.ports
        iterator = it
        content {
          name = "${group.value}-${it.key}"
          port = it.key

          dynamic "check" {
            for_each = it.value.check == "" ? [] : [it.value.check]
            content {
              type     = "http"
              path     = check.value
              interval = "10s"
              timeout  = "2s"
            }
          }
        }
      }

      task "app" {
        driver = "docker"

        config {
          image = "app:1"
          ports = keys(local.ports)

          dynamic "mount" {
            for_each = toset(["cache", "data"])
            content {
              type   = "bind"
              source = "local/${mount.value}"
              target = "/${mount.value}"
            }
          }
        }

        env {
          REGION = group.value
        }
      }
    }
  }
}
