# The unit inventory with a checked shift: the shift is reversed if the new version
# answers with errors. Deploy inventory.hcl first, send requests, and deploy a
# version that answers half of them with an error:
#
#     reeve stack deploy examples/stacks/inventory.hcl
#     while sleep 0.05; do curl -s http://inventory.localhost:8080/ > /dev/null; done &
#     reeve stack deploy -var version=1.2.0 -var errors=50 examples/stacks/checked.hcl
variable "version" {
  type        = string
  default     = "1.0.0"
  description = "The version to deploy."
}

variable "errors" {
  type        = string
  default     = "0"
  description = "The percentage of requests that the version answers with an error."
}

job "inventory" {
  type = "service"

  stack {
    version = var.version

    # The times are short, so that the example can be watched. The defaults are
    # 30 minutes, 30 minutes and 24 hours.
    initial_ttl = "1m"
    extend_ttl  = "1m"
    grace       = "5m"

    shift {
      policy = "linear"
      over   = "30s"

      check "errors" {
        metric = "http_5xx"
        max    = "5%"
        than   = "from+1%"
      }

      interval     = "5s"
      min_requests = 5
    }

    expose {
      host = "inventory.localhost"
    }
  }

  group "api" {
    count          = 2
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
        args    = ["example-web"]
      }

      env {
        VERSION = var.version
        ERRORS  = var.errors
      }

      resources {
        cpu    = 50
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
