# A service that wants to be spread evenly over the zones of a fleet.
job "web" {
  type = "service"

  group "web" {
    count = 60

    spread {
      attribute = "${meta.zone}"
    }

    update {
      max_parallel = 0 # no deployment: nobody waits for health
    }

    network {
      port "http" {}
    }

    task "server" {
      driver = "mock"

      config {
        run_for    = "24h"
        kill_after = "100ms"
      }

      resources {
        cpu    = 200
        memory = 256
      }
    }
  }
}
