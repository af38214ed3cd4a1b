# Directories of the task and of the host inside the container.
# accept: yes

job "docker-volumes" {
  datacenters = ["dc1"]

  group "docker" {
    task "volumes" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        volumes = [
          "local/conf.d:/etc/app/conf.d:ro",
          "/srv/uploads:/data/uploads",
          "cache:/var/cache/app",
        ]
      }
    }
  }
}
