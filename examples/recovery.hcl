# A site that outlives the servers: delete all that they know, and it goes on
# and is reached. docs/domains.md walks through it. Run it with
#
#     reeve dev examples/recovery.hcl
#
# and say that all jobs of its domain are registered:
#
#     reeve domain fresh shop
job "shop" {
  domain = "shop"

  group "site" {
    count = 3

    network {
      port "http" {}
    }

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
    }
  }
}
