# An ingress gateway of Consul.
# accept: refused
# needs: bridge, connect
# error: group "ingress": network: mode "bridge" is not supported yet; use mode = "host", and let the task listen on $NOMAD_PORT_label of its port
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
