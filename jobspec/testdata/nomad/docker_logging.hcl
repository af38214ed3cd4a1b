# A logging driver with options.
# accept: yes
# ends: waits: logging of type "fluentd" needs a Docker daemon

job "docker-logging" {
  datacenters = ["dc1"]

  group "docker" {
    task "logging" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        logging {
          type = "fluentd"
          config {
            fluentd-address = "127.0.0.1:24224"
            tag             = "shop.web"
          }
        }
      }
    }
  }
}
