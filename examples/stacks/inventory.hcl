# The unit inventory: a service whose versions are deployed as stacks. Deploy it
# with an agent that routes traffic (reeve agent -dev), and ask it:
#
#     reeve stack deploy examples/stacks/inventory.hcl
#     curl http://inventory.localhost:8080/
#
# Deploy the next version. Both versions answer while traffic shifts, and the
# old one is removed when nothing has used it for a while:
#
#     reeve stack deploy -var version=1.1.0 examples/stacks/inventory.hcl
#     reeve unit status inventory
#
# docs/stacks.md walks through this file and shop.hcl.
variable "version" {
  type        = string
  default     = "1.0.0"
  description = "The version to deploy."
}

job "inventory" {
  type = "service"

  stack {
    version = var.version

    # The times are short, so that the example can be watched. The defaults are
    # 30 minutes, 30 minutes and 24 hours.
    initial_ttl = "1m"
    extend_ttl  = "1m"
    grace       = "5m"

    # Each new instance answers requests before it receives traffic.
    warm {
      http {
        path     = "/"
        requests = 20
        over     = "2s"
      }
    }

    shift {
      policy = "linear"
      over   = "30s"
    }

    # During a shift a client stays on one version, and every client may preview a
    # version that receives no traffic yet. With preview = true, only requests of
    # trusted proxies could:
    #
    #     curl -H 'Reeve-Stack: 1.1.0' http://inventory.localhost:8080/
    expose {
      host    = "inventory.localhost"
      sticky  = "client"
      preview = "public"
    }
  }

  group "api" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    service {
      name     = "inventory"
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

    update {
      min_healthy_time = "1s"
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
        cpu    = 50
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
