# The customers' carts: three instances behind the route cart.localhost.
#
# A rolling restart of this job is paused after its first instance: somebody
# wants to see whether the memory of that instance stays low.
#
#     reeve plan show cart restart
#     reeve job restart -resume RESTART
job "cart" {
  group "api" {
    count          = 3
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = "cart.localhost"
      port = "http"
    }

    service {
      name     = "cart"
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
      max_parallel     = 1
      min_healthy_time = "1s"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-shop", "cart"]
      }

      env {
        VERSION = "2.0.3"
        LATENCY = "3ms"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
