# A task for a driver that is a plugin of Nomad.
# accept: yes

job "podman-driver" {
  datacenters = ["dc1"]

  group "podman" {
    network {
      port "redis" {
        to = 6379
      }
    }

    task "driver" {
      driver = "podman"

      config {
        image = "docker.io/library/redis:7"
        ports = ["redis"]
      }
    }
  }
}
