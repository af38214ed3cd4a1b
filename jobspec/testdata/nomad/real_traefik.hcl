# An ingress on every node, with a static configuration from a template.
# accept: yes

job "traefik" {
  type = "system"

  group "ingress" {
    network {
      mode = "bridge"
      port "web" {
        static = 80
        to     = 8000
      }
      port "dashboard" {
        static = 8081
        to     = 8081
      }
    }

    service {
      name     = "traefik-dashboard"
      port     = "dashboard"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/ping"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "traefik" {
      driver = "docker"
      config {
        image = "traefik:v3.1"
        args  = ["--configFile=/etc/traefik/traefik.yml"]
        ports = ["web", "dashboard"]
        mount {
          type     = "bind"
          source   = "local/traefik.yml"
          target   = "/etc/traefik/traefik.yml"
          readonly = true
        }
      }
      template {
        destination = "local/traefik.yml"
        data        = <<-EOT
          entryPoints:
            web:
              address: ":8000"
          providers:
            nomad:
              endpoint:
                address: http://{{ env "attr.unique.network.ip-address" }}:4646
        EOT
      }
      resources {
        cpu    = 100
        memory = 128
      }
    }
  }
}
