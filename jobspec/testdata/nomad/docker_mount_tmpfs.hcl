# A file system in memory, with a limit.
# accept: yes

job "docker-mount-tmpfs" {
  datacenters = ["dc1"]

  group "docker" {
    task "tmpfs" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        mount {
          type   = "tmpfs"
          target = "/run/cache"
          tmpfs_options {
            size = 67108864
          }
        }
      }
    }
  }
}
