# A service for Consul: it is in the catalog of Reeve.
# accept: yes
# warns: group "service", service "api": provider = "consul": Reeve does not use Consul; the service is in Reeve's own catalog, as with provider = "nomad"

job "service-default-provider" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name     = "api"
      port     = "http"
      provider = "consul"
      tags     = ["urlprefix-/api"]
    }

    task "provider" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
