# The unit shop, which calls the unit inventory. Deploy both; the order of the
# files does not matter:
#
#     reeve stack deploy examples/stacks/shop.hcl examples/stacks/inventory.hcl
#     reeve stack graph
#     curl http://shop.localhost:8080/
#
# While a shop 2.x runs, the stack of inventory that it calls is kept.
variable "version" {
  type        = string
  default     = "2.4.0"
  description = "The version to deploy."
}

job "shop" {
  type = "service"

  stack {
    version = var.version

    # Any ready stack 1.x of inventory satisfies this, from 1.0 on.
    depends "inventory" {
      version = "1.0"
    }

    # All stacks of the unit that expose a host share its traffic.
    expose {
      host = "shop.localhost"
    }
  }

  group "web" {
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    service {
      name     = "shop"
      port     = "http"
      provider = "nomad"

      check {
        name     = "ready"
        type     = "http"
        kind     = "readiness"
        path     = "/healthz"
        interval = "1s"
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
        # Each response contains the one of inventory. The URL stays the same while
        # the traffic of inventory shifts to another version.
        args = ["example-web", "-call", "${REEVE_DEP_INVENTORY_URL}"]
      }

      env {
        VERSION = "shop ${var.version}"

        # The node's router knows the name in the URL. Without this line, the resolver
        # of the machine must know it.
        http_proxy = "http://${REEVE_ROUTER_ADDR}"
      }

      resources {
        cpu    = 50
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
