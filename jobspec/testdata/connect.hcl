# Consul Connect is read whole, so that it can be refused by name.
job "meshed" {
  group "api" {
    network {
      mode = "bridge"
    }

    consul {
      cluster = "main"
    }

    service {
      name = "api"
      port = 9001

      connect {
        sidecar_service {
          tags = ["mesh"]

          proxy {
            local_service_port = 9001

            upstreams {
              destination_name = "db"
              local_bind_port  = 5432

              mesh_gateway {
                mode = "local"
              }
            }

            upstreams {
              destination_name = "cache"
              local_bind_port  = 6379
            }

            expose {
              path {
                path            = "/health"
                protocol        = "http"
                local_path_port = 9001
                listener_port   = "health"
              }
            }

            config {
              envoy_stats_tags = ["a=b"]
            }
          }
        }

        sidecar_task {
          kill_timeout = "10s"
          resources {
            cpu    = 50
            memory = 64
          }
        }
      }
    }

    task "api" {
      driver = "docker"
      config {
        image = "api:1"
      }
    }
  }

  group "ingress" {
    service {
      name = "ingress"
      connect {
        gateway {
          proxy {
            connect_timeout = "5s"
            envoy_gateway_bind_addresses "public" {
              address = "0.0.0.0"
              port    = 8080
            }
          }
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

    task "nothing" {
      driver = "docker"
      config {
        image = "pause:3"
      }
    }
  }
}
