# A service that others find by name, and an instance that closes for a while
# without being restarted. Run it with
#
#     reeve dev examples/service.hcl
#
# and ask the name server, whose address is printed:
#
#     dig @127.0.0.1 -p 8600 web.default.svc.reeve SRV
#
# Close an instance, and ask again; then open it:
#
#     reeve alloc exec -task server ALLOCATION touch ../alloc/data/closed
#     reeve alloc exec -task server ALLOCATION rm ../alloc/data/closed
job "shop" {
  type = "service"

  group "web" {
    count          = 2
    shutdown_delay = "1s" # out of the catalog first, then the signal

    network {
      port "http" {}
    }

    service {
      name     = "web"
      port     = "http"
      provider = "nomad"
      tags     = ["blue", "v${NOMAD_ALLOC_INDEX}"]

      # While this fails, nobody is sent here; the process goes on.
      check {
        name     = "open"
        type     = "script"
        kind     = "readiness"
        task     = "server"
        command  = "/bin/sh"
        args     = ["-c", "test ! -e \"$NOMAD_ALLOC_DIR/data/closed\""]
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

      resources {
        cpu    = 100
        memory = 64
      }

      kill_signal = "SIGTERM"
    }
  }
}
