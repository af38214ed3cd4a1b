job "web" {
  group "app" {
    service {
      name = "a"
      connect {
        sidecar_servce {}
        sidecar_service {
          proxy {
            upstream {
              destination_name = "db"
            }
            upstreams {
              destintion_name = "db"
            }
          }
        }
      }
    }
  }
}
