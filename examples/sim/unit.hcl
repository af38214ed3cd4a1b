# A unit of examples/sim/stacks.yaml. The simulation sets its name, its versions and
# its dependencies. The times are short, so that stacks end within the scenario.
job "unit" {
  type = "service"

  stack {
    version     = "1.0.0"
    initial_ttl = "6s"
    extend_ttl  = "4s"
    grace       = "5s"
    idle        = "20s"

    shift {
      policy = "atomic"
      over   = "5s"
    }
  }

  group "api" {
    count = 2

    update {
      max_parallel     = 2
      min_healthy_time = "100ms"
    }

    network {
      port "http" {}
    }

    task "server" {
      driver = "mock"

      config {
        run_for = "24h"
      }

      resources {
        cpu    = 20
        memory = 16
      }
    }
  }
}
