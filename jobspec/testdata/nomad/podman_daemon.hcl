# Settings of the driver podman that need its socket.
# accept: yes
# ends: waits: need a Docker daemon

job "podman-daemon" {
  datacenters = ["dc1"]

  group "cache" {
    network {
      port "redis" {
        to = 6379
      }
    }

    task "redis" {
      driver = "podman"

      config {
        image             = "redis"
        ports             = ["redis"]
        tty               = true
        memory_swap       = "180m"
        memory_swappiness = 60
        network_mode      = "bridge"
        logging = {
          driver = "journald"
          options = [
            {
              "tag" = "redis"
            }
          ]
        }
      }
    }
  }
}
