# Turns a cart into an order: it asks cart, payments and mail.
#
# The plan "update" holds every later version after its first instance, the
# canary, until an operator has seen enough of it:
#
#     reeve job run -detach -var version=1.9.0 checkout.hcl
#     reeve plan show checkout deploy
#     reeve plan continue checkout deploy api
variable "version" {
  type        = string
  default     = "1.8.2"
  description = "The version to run; change it to see a rollout."
}

variable "router" {
  type        = string
  default     = "127.0.0.1:8080"
  description = "The address of the node's router, through which the services call each other."
}

job "checkout" {
  # In a phase with the strategy serial-canary the first "continue" releases one
  # instance, and the second one the others. The first deployment has the default
  # plan: all instances start together.
  plan "update" {
    phase "api" {
      strategy = "serial-canary"
    }
  }

  group "api" {
    count          = 3
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = "checkout.localhost"
      port = "http"
    }

    service {
      name     = "checkout"
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
      auto_revert       = true
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "checkout"]
      }

      env {
        VERSION      = var.version
        LATENCY      = "8ms"
        CART_URL     = "http://cart.localhost"
        PAYMENTS_URL = "http://payments.localhost"
        MAIL_URL     = "http://mail.localhost"
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
