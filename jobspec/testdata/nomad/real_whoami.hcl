# Three small web servers with tags for an ingress.
# accept: yes

job "whoami" {
  group "whoami" {
    count = 3

    network {
      mode = "bridge"
      port "http" {
        to = 80
      }
    }

    service {
      name     = "whoami"
      port     = "http"
      provider = "nomad"
      tags = [
        "traefik.enable=true",
        "traefik.http.routers.whoami.rule=Host(`whoami.example.com`)",
      ]
      check {
        type     = "http"
        path     = "/health"
        interval = "5s"
        timeout  = "1s"
      }
    }

    task "whoami" {
      driver = "docker"
      config {
        image = "traefik/whoami"
        ports = ["http"]
        logging {
          type = "json-file"
          config {
            max-size = "10m"
          }
        }
      }
      resources {
        cpu    = 20
        memory = 32
      }
    }
  }
}
