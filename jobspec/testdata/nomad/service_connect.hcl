# A sidecar of Consul's mesh.
# accept: refused
# needs: connect
# error: group "service": service "api": the connect block is not supported: Reeve has no mesh; remove it, and use route blocks or the catalog of services

job "service-connect" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    service {
      name = "api"
      port = "http"
      connect {
        sidecar_service {
          proxy {
            upstreams {
              destination_name = "db"
              local_bind_port  = 5432
            }
          }
        }
      }
    }

    task "connect" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
