# An identity of a service, for Consul.
# accept: refused
# needs: identity
# error: group "identity": task "service": service "api": identity of a service is not supported: Reeve does not use Consul; remove it: services are in Reeve's own catalog

job "identity-service" {
  datacenters = ["dc1"]

  group "identity" {
    task "service" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      service {
        name     = "api"
        provider = "consul"
        identity {
          aud = ["consul.io"]
          ttl = "1h"
        }
      }
    }
  }
}
