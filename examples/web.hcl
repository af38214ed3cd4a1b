# A web service of two instances. Run it with "make dev", or
#
#     reeve dev examples/web.hcl
#
# and ask one of the addresses that are printed:
#
#     curl http://127.0.0.1:PORT/
variable "version" {
  type        = string
  default     = "1"
  description = "What the service says it is; change it to see an update."
}

job "web" {
  type = "service"

  group "web" {
    count = 2

    network {
      port "http" {}
    }

    # An instance is healthy once its check passes. The update below waits for
    # that.
    service {
      name     = "web"
      port     = "http"
      provider = "nomad"

      check {
        name     = "healthz"
        type     = "http"
        path     = "/healthz"
        interval = "1s"
        timeout  = "1s"
      }
    }

    update {
      max_parallel      = 1
      min_healthy_time  = "1s"
      healthy_deadline  = "30s"
      progress_deadline = "1m"
    }

    restart {
      attempts = 3
      interval = "1m"
      delay    = "1s"
    }

    # A task that runs to completion before the server starts. The directory
    # alloc is shared by the group's tasks.
    task "prepare" {
      driver = "raw_exec"

      lifecycle {
        hook = "prestart"
      }

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"Prepared at $(date).\" | tee \"$NOMAD_ALLOC_DIR/data/greeting\""]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }

    # The server is a part of the reeve binary, so that this example needs
    # nothing else on the machine.
    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      env {
        VERSION       = var.version
        GREETING_FILE = "${NOMAD_ALLOC_DIR}/data/greeting"
      }

      resources {
        cpu    = 100
        memory = 64
      }

      kill_signal  = "SIGTERM"
      kill_timeout = "5s"
    }
  }
}
