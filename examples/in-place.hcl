# What may be changed while instances go on: annotation, counts, routes, metric
# tags, and the tags, meta and checks of services. Run it with
#
#     reeve dev examples/in-place.hcl
#
# change a tag below, and register it again in another terminal:
#
#     reeve job run -no-restart examples/in-place.hcl
#
# No process is restarted. Change VERSION, and the same command refuses, and says
# which field needs a restart.
variable "tag" {
  type        = string
  default     = "v1"
  description = "A tag of the service; change it, and nothing restarts."
}

job "shop" {
  type       = "service"
  domain     = "storefront"
  annotation = "owner: team-shop"

  group "site" {
    count          = 3
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = "in-place.localhost"
      port = "http"
    }

    metric_tag "app" {
      static = "shop"
    }

    metric_tag "instance" {
      dynamic = "INDEX"
    }

    service {
      name     = "shop-site"
      port     = "http"
      provider = "nomad"
      tags     = [var.tag]

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
        VERSION = "1"
      }

      resources {
        cpu    = 100
        memory = 64
      }

      kill_signal = "SIGTERM"
    }
  }
}
