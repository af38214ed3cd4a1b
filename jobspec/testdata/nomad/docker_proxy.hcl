# A reverse proxy on every node whose configuration lists the instances of a service.
# accept: yes
# ends: waits: a container in the node's network cannot listen on 80

job "edge" {
  type = "system"

  group "edge" {
    network {
      port "http" {
        static = 80
      }
      port "https" {
        static = 443
      }
    }

    task "nginx" {
      driver = "docker"
      config {
        image        = "nginx:1.27"
        network_mode = "host"
        volumes      = ["local/upstreams.conf:/etc/nginx/conf.d/default.conf:ro"]
      }

      template {
        destination   = "local/upstreams.conf"
        change_mode   = "signal"
        change_signal = "SIGHUP"
        data          = <<-EOT
          upstream api {
          {{- range nomadService "api" }}
            server {{ .Address }}:{{ .Port }};
          {{- end }}
          }
        EOT
      }
    }
  }
}
