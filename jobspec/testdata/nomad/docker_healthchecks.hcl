# The health check of the image is disabled.
# accept: yes
# ends: waits: storage_opt needs a Docker daemon

job "docker-healthchecks" {
  datacenters = ["dc1"]

  group "docker" {
    task "healthchecks" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        healthchecks {
          disable = true
        }
        storage_opt = {
          size = "40G"
        }
      }
    }
  }
}
