# The shop's front: the only service that customers reach. It asks catalog, cart
# and checkout. The router sends requests for shop.localhost to its instances:
#
#     curl http://shop.localhost:8080/
#
# The namespace staging has a copy, which a quota limits.
variable "router" {
  type        = string
  default     = "127.0.0.1:8080"
  description = "The address of the node's router, through which the services call each other."
}

variable "host" {
  type    = string
  default = "shop.localhost"
}

variable "count" {
  type    = number
  default = 2
}

job "web" {
  group "web" {
    count          = var.count
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = var.host
      port = "http"
    }

    # An instance receives requests only while this check passes.
    service {
      name     = "web"
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
      max_parallel      = 1
      min_healthy_time  = "1s"
      healthy_deadline  = "30s"
      progress_deadline = "1m"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "web"]
      }

      env {
        VERSION      = "5.2.0"
        CATALOG_URL  = "http://catalog.localhost"
        CART_URL     = "http://cart.localhost"
        CHECKOUT_URL = "http://checkout.localhost"
        http_proxy   = "http://${var.router}"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
