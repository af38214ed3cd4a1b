# Weights and addresses of a service.
# accept: yes

job "service-weights" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name         = "api"
      port         = "http"
      provider     = "nomad"
      address_mode = "host"
      weights {
        passing = 5
        warning = 1
      }
    }

    task "weights" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
