# A service on the simulated nodes. The driver "mock" runs no process: it only
# pretends to. The instances are spread over the zones.
#
#     reeve node status
#     reeve node drain -enable -detach NODE
variable "count" {
  type    = number
  default = 18
}

job "search" {
  constraint {
    attribute = "${node.class}"
    value     = "simulated"
  }

  group "index" {
    count = var.count

    spread {
      attribute = "${meta.zone}"
    }

    update {
      max_parallel     = 6
      min_healthy_time = "1s"
    }

    task "index" {
      driver = "mock"

      config {
        run_for = "8760h"
      }

      resources {
        cpu    = 900
        memory = 1500
      }
    }
  }
}
