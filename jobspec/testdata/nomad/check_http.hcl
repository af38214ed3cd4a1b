# A check by HTTP, with method, header and body.
# accept: yes

job "check-http" {
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
        name     = "ready"
        type     = "http"
        path     = "/ready"
        method   = "POST"
        body     = "{}"
        interval = "10s"
        timeout  = "2s"
        header {
          Authorization = ["Basic cGxhY2Vob2xkZXI="]
        }
      }
    }

    task "http" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
