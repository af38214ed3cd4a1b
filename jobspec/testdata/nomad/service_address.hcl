# A service with an address outside of the node.
# accept: yes

job "service-address" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name     = "api"
      port     = "http"
      provider = "nomad"
      address  = "api.example.com"
    }

    task "address" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
