# A check by HTTPS without verification.
# accept: yes

job "check-https" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name     = "api"
      port     = "http"
      provider = "nomad"
      check {
        type            = "http"
        protocol        = "https"
        path            = "/healthz"
        tls_server_name = "api.example.com"
        tls_skip_verify = true
        interval        = "15s"
        timeout         = "3s"
      }
    }

    task "https" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
