# The json-file log of the container engine, with rotation.
# accept: yes

job "docker-logging-json" {
  datacenters = ["dc1"]

  group "docker" {
    task "json" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        logging {
          type = "json-file"
          config {
            max-file = 3
            max-size = "20m"
          }
        }
      }
      logs {
        disabled = true
      }
    }
  }
}
