# The unit catalog: what the shop sells. Its versions are stacks. Each needs the
# unit inventory, any version 1.x, and Reeve keeps an inventory as long as a
# catalog calls it.
#
#     reeve stack graph
#     reeve unit status catalog
job "catalog" {
  stack {
    version = "2.4.0"

    depends "inventory" {
      version = "1.0"
    }

    expose {
      host = "catalog.localhost"
    }
  }

  group "api" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    service {
      name     = "catalog"
      port     = "http"
      provider = "nomad"

      check {
        name     = "ready"
        type     = "http"
        kind     = "readiness"
        path     = "/healthz"
        interval = "5s"
        timeout  = "1s"
      }
    }

    update {
      min_healthy_time = "1s"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "catalog"]
      }

      # The address stays the same while traffic shifts between versions of inventory.
      env {
        VERSION       = "2.4.0"
        LATENCY       = "5ms"
        INVENTORY_URL = "${REEVE_DEP_INVENTORY_URL}"
        http_proxy    = "http://${REEVE_ROUTER_ADDR}"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
