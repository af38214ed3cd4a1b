# Two jobs that share a route: blue serves, green is started beside it, and takes
# over by weight. Both are made from this file; run it with
#
#     reeve dev examples/blue-green.hcl
#
# and in another terminal start green, which gets nothing yet:
#
#     reeve job run -var color=green -var weight=0 examples/blue-green.hcl
#     curl http://shop.localhost:8080/
#
# Give it a tenth of the traffic, then all. Nothing is restarted by that:
#
#     reeve job run -var color=green -var weight=1 examples/blue-green.hcl
#     reeve job run -var color=blue -var weight=9 examples/blue-green.hcl
#     reeve route list
#     reeve job run -var color=blue -var weight=0 examples/blue-green.hcl
#
# To go back, give blue its weight again; to finish, stop it:
#
#     reeve job stop colors-blue
variable "color" {
  type        = string
  default     = "blue"
  description = "Which of the two jobs this is."
}

variable "weight" {
  type        = number
  default     = 1
  description = "The share of the traffic that each of its instances gets, relative to the other job's."
}

job "colors" {
  id   = "colors-${var.color}"
  name = "colors-${var.color}"
  type = "service"

  group "web" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    # Each of the jobs says that it shares the route: otherwise the second one is
    # refused.
    route {
      host   = "shop.localhost"
      port   = "http"
      shared = true
      weight = var.weight
    }

    service {
      name     = "colors-${var.color}"
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

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      env {
        VERSION = var.color
      }

      resources {
        cpu    = 50
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
