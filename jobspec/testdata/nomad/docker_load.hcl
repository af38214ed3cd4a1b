# An image from a tar file that an artifact brings.
# accept: yes

job "docker-load" {
  datacenters = ["dc1"]

  group "docker" {
    task "load" {
      driver = "docker"

      config {
        image = "web:local"
        load  = "web.tar"
      }
      artifact {
        source = "https://files.example.com/images/web.tar"
        options {
          archive = false
        }
      }
    }
  }
}
