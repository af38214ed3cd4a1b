# A site over HTTPS. The agent's configuration has the certificate; for a trial, make one:
#
#     mkdir -p -m 700 /tmp/tls
#     openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 30 \
#       -subj /CN=shop.localhost -addext subjectAltName=DNS:shop.localhost \
#       -keyout /tmp/tls/shop.key -out /tmp/tls/shop.pem
#     cat > /tmp/tls/agent.hcl <<END
#     router {
#       https = "127.0.0.1:8443"
#       certificate {
#         cert_file = "/tmp/tls/shop.pem"
#         key_file  = "/tmp/tls/shop.key"
#       }
#     }
#     END
#
#     reeve agent -dev -config /tmp/tls/agent.hcl
#     reeve job run examples/router-https.hcl
#     curl --cacert /tmp/tls/shop.pem https://shop.localhost:8443/
#
# Requests over plain HTTP are redirected:
#
#     curl -i http://shop.localhost:8080/
job "shop" {
  type = "service"

  group "site" {
    count          = 2
    shutdown_delay = "1s"

    network {
      port "http" {}
    }

    route {
      host = "shop.localhost"
      port = "http"

      tls {
        redirect = true
      }
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
