# Sends mail to customers. It has one instance, and a route.
job "mail" {
  group "api" {
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = "mail.localhost"
      port = "http"
    }

    service {
      name     = "mail"
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
        args    = ["example-shop", "mail"]
      }

      env {
        VERSION = "1.0.7"
        LATENCY = "30ms"
        ERRORS  = "3"
      }

      resources {
        cpu    = 20
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
