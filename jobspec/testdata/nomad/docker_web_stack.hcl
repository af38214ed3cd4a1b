# A web service as teams write it: bridge, template, checks, rolling update.
# accept: yes

job "shop" {
  datacenters = ["dc1"]

  update {
    max_parallel     = 1
    canary           = 1
    auto_promote     = true
    auto_revert      = true
    min_healthy_time = "20s"
    healthy_deadline = "4m"
  }

  group "web" {
    count = 3

    network {
      mode = "bridge"
      port "http" {
        to = 8080
      }
    }

    service {
      name     = "shop-web"
      port     = "http"
      provider = "nomad"
      tags     = ["traefik.enable=true", "traefik.http.routers.shop.rule=Host(`shop.example.com`)"]

      check {
        type     = "http"
        path     = "/healthz"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "web" {
      driver = "docker"
      config {
        image = "registry.example.com/shop/web:1.4.2"
        ports = ["http"]
      }

      template {
        destination = "secrets/db.env"
        env         = true
        data        = <<-EOT
          {{ with nomadVar "nomad/jobs/shop" }}
          DATABASE_URL={{ .database_url }}
          {{ end }}
        EOT
      }

      resources {
        cpu    = 400
        memory = 512
      }
    }
  }
}
