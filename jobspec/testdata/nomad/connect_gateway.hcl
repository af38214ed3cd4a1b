# An ingress gateway of Consul.
# accept: refused
# needs: connect
# error: group "ingress": service "ingress": the connect block is not supported: Reeve has no mesh; remove it, and use route blocks or the catalog of services

job "ingress" {
  group "ingress" {
    network {
      mode = "bridge"
      port "inbound" {
        static = 8080
      }
    }
    service {
      name = "ingress"
      port = "8080"
      connect {
        gateway {
          proxy {}
          ingress {
            listener {
              port     = 8080
              protocol = "tcp"
              service {
                name = "api"
              }
            }
          }
        }
      }
    }
    task "helper" {
      driver = "raw_exec"
      config {
        command = "/bin/cat"
      }
    }
  }
}
