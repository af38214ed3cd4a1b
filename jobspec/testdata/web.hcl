# A web service of two instances behind checks, updated one by one.
job "web" {
  datacenters = ["dc1", "eu-*"]
  type        = "service"
  priority    = 60

  update {
    max_parallel      = 1
    min_healthy_time  = "10s"
    healthy_deadline  = "3m"
    progress_deadline = "10m"
    auto_revert       = true
  }

  group "frontend" {
    count = 2

    network {
      port "http" {
        to = -1
      }
    }

    service {
      name = "web"
      port = "http"
      tags = ["public", "urlprefix-/"]

      check {
        name     = "alive"
        type     = "http"
        path     = "/healthz"
        interval = "10s"
        timeout  = "2s"
      }
    }

    restart {
      attempts = 3
      interval = "5m"
      delay    = "15s"
      mode     = "fail"
    }

    task "server" {
      driver = "exec"

      config {
        command = "/usr/bin/python3"
        args    = ["-m", "http.server", "${NOMAD_PORT_http}", "--directory", "${NOMAD_TASK_DIR}"]
      }

      env {
        LISTEN   = "${NOMAD_ADDR_http}"
        WORKERS  = 4
        DEBUG    = false
        INSTANCE = "${NOMAD_ALLOC_INDEX}"
      }

      resources {
        cpu    = 200
        memory = 128
      }

      kill_timeout = "20s"
    }
  }
}
