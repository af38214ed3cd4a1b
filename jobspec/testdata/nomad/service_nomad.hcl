# A service in the catalog, with tags and metadata.
# accept: yes

job "service-nomad" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name        = "api"
      port        = "http"
      provider    = "nomad"
      tags        = ["v1", "internal"]
      canary_tags = ["canary"]
      meta {
        version = "1.4.2"
      }
      canary_meta {
        version = "next"
      }
    }

    task "nomad" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
