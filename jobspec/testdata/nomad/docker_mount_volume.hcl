# A named volume with a driver and labels.
# accept: yes
# ends: waits: mount of type "volume" needs a Docker daemon

job "docker-mount-volume" {
  datacenters = ["dc1"]

  group "docker" {
    task "volume" {
      driver = "docker"

      config {
        image = "postgres:16"
        mount {
          type   = "volume"
          source = "pgdata"
          target = "/var/lib/postgresql/data"
          volume_options {
            no_copy = true
            labels {
              team = "storage"
            }
            driver_config {
              name = "local"
              options {
                type   = "nfs"
                device = ":/exports/pg"
              }
            }
          }
        }
      }
    }
  }
}
