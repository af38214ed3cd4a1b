# A site and its API behind the router: two groups, two routes. Run it with
#
#     reeve dev examples/router.hcl
#
# and ask the router, whose address is printed:
#
#     curl http://shop.localhost:8080/
#     curl http://shop.localhost:8080/api/
#
# Close an instance of the site, and traffic goes to the others; then open it:
#
#     reeve alloc exec -task server ALLOCATION touch ../alloc/data/closed
#     reeve alloc exec -task server ALLOCATION rm ../alloc/data/closed
#
# Change version and register it again under load: no request is lost, because
# an instance gets traffic only while its readiness check passes, and leaves the
# router before it is told to stop.
variable "version" {
  type        = string
  default     = "1"
  description = "What the site says it is; change it to see a rolling update."
}

job "shop" {
  type = "service"

  update {
    max_parallel      = 1
    min_healthy_time  = "1s"
    healthy_deadline  = "30s"
    progress_deadline = "1m"
  }

  group "site" {
    count          = 3
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    # Everything for this host that no longer path takes.
    route {
      host = "shop.localhost"
      port = "http"
    }

    service {
      name     = "shop-site"
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

      env {
        VERSION = var.version
      }

      resources {
        cpu    = 100
        memory = 64
      }

      kill_signal = "SIGTERM"
    }
  }

  group "api" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    # The instances see "/" for "/api/", and a client stays with the one that
    # answered it first.
    route {
      host       = "shop.localhost"
      path       = "/api"
      port       = "http"
      strip_path = true
      sticky     = "api-instance"
      timeout    = "10s"
    }

    service {
      name     = "shop-api"
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
        VERSION = "api"
      }

      resources {
        cpu    = 100
        memory = 64
      }

      kill_signal = "SIGTERM"
    }
  }
}
