# A service whose checks say different things. Run it with
#
#     reeve dev examples/health.hcl
#
# and see in "reeve alloc status ALLOC" what each of these does:
#
#     reeve alloc exec -task server ALLOC touch ../alloc/data/busy   # no traffic; nothing is killed
#     reeve alloc exec -task server ALLOC rm ../alloc/data/busy      # traffic again
#     reeve alloc signal -s SIGSTOP ALLOC server                     # it hangs: a crash, restarted
job "health" {
  type = "service"

  group "web" {
    # Out of traffic first, then this time for what is under way, then the signal.
    shutdown_delay = "2s"

    network {
      port "http" {}
    }

    service {
      name = "health-web"
      port = "http"

      # Until it passes the instance is not up. Three failures in a row are a
      # crash, and so is not passing once in half a minute.
      check {
        name                     = "alive"
        type                     = "http"
        kind                     = "liveness"
        path                     = "/healthz"
        interval                 = "2s"
        timeout                  = "1s"
        start_timeout            = "30s"
        failures_before_critical = 3
      }

      # While it fails no traffic comes.
      check {
        name     = "ready"
        type     = "script"
        kind     = "readiness"
        task     = "server"
        command  = "/bin/sh"
        args     = ["-c", "test ! -e ../alloc/data/busy || { echo busy; exit 1; }"]
        interval = "2s"
        timeout  = "1s"
      }
    }

    restart {
      attempts = 3
      interval = "10m"
      delay    = "1s"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      # Liveness by a command in the task, for what offers no port.
      monitor {
        command  = "/bin/sh"
        args     = ["-c", "test -d ${NOMAD_TASK_DIR}"]
        interval = "10s"
        timeout  = "2s"
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
