# The unit inventory: how many pieces are in stock. Its versions run side by side
# as stacks: 1.0 is deprecated, and traffic shifts from 1.1 to 1.2.
#
#     reeve unit status inventory
#     reeve stack shift inventory finish
#     reeve stack why inventory@1.0
variable "version" {
  type        = string
  default     = "1.2.0"
  description = "The version to deploy."
}

variable "over" {
  type        = string
  default     = "30m"
  description = "The time in which traffic moves to this version."
}

variable "count" {
  type    = number
  default = 2
}

job "inventory" {
  stack {
    version     = var.version
    initial_ttl = "2h"
    extend_ttl  = "2h"

    shift {
      policy = "linear"
      over   = var.over
    }

    expose {
      host   = "inventory.localhost"
      sticky = "client"
    }
  }

  group "api" {
    count          = var.count
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    service {
      name     = "inventory"
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
        args    = ["example-shop", "inventory"]
      }

      env {
        VERSION = var.version
        LATENCY = "4ms"
        ERRORS  = "1"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
