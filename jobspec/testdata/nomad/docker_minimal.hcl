# A container with an image only.
# accept: yes

job "docker-minimal" {
  datacenters = ["dc1"]

  group "docker" {
    task "minimal" {
      driver = "docker"

      config {
        image = "nginx:1.27-alpine"
      }
    }
  }
}
