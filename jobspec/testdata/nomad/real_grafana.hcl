# Dashboards with provisioned data sources, as a user of the image.
# accept: yes

job "grafana" {
  group "grafana" {
    network {
      mode = "bridge"
      port "http" {
        to = 3000
      }
    }

    volume "data" {
      type   = "host"
      source = "grafana"
    }

    service {
      name     = "grafana"
      port     = "http"
      provider = "nomad"
      check {
        name     = "api"
        type     = "http"
        path     = "/api/health"
        interval = "10s"
        timeout  = "3s"
        check_restart {
          limit = 3
          grace = "1m"
        }
      }
    }

    task "grafana" {
      driver = "docker"
      user   = "472:0"
      config {
        image   = "grafana/grafana:11.1.0"
        ports   = ["http"]
        volumes = ["local/datasources.yml:/etc/grafana/provisioning/datasources/nomad.yml:ro"]
      }
      env {
        GF_PATHS_DATA    = "/var/lib/grafana"
        GF_LOG_LEVEL     = "warn"
        GF_SERVER_DOMAIN = "grafana.example.com"
      }
      volume_mount {
        volume      = "data"
        destination = "/var/lib/grafana"
      }
      template {
        destination = "local/datasources.yml"
        change_mode = "restart"
        data        = <<-EOT
          apiVersion: 1
          datasources:
          {{- range nomadService "prometheus" }}
            - name: prometheus
              type: prometheus
              url: http://{{ .Address }}:{{ .Port }}
          {{- end }}
        EOT
      }
    }
  }
}
