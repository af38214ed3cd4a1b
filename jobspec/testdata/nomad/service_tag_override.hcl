# An option of Consul that has no effect.
# accept: yes
# warns: group "service", service "api": enable_tag_override has no effect; it is for Consul
# warns: group "service", service "api": tagged_addresses has no effect; it is for Consul: address sets the one in the catalog

job "service-tag-override" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name                = "api"
      port                = "http"
      enable_tag_override = true
      tagged_addresses {
        wan = "203.0.113.9"
      }
    }

    task "override" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
