# A task that takes part in Consul's mesh itself.
# accept: refused
# needs: connect
# error: group "service": service "api": the connect block is not supported: Reeve has no mesh; remove it, and use route blocks or the catalog of services

job "service-connect-native" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name = "api"
      port = "http"
      task = "native"
      connect {
        native = true
      }
    }

    task "native" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
