# A web server whose list of upstreams follows a service, with a signal.
# accept: yes

job "nginx" {
  group "web" {
    count = 2

    network {
      mode = "bridge"
      port "http" {
        to = 80
      }
    }

    service {
      name     = "web"
      port     = "http"
      provider = "nomad"
      tags     = ["urlprefix-/"]
      check {
        type     = "http"
        path     = "/"
        interval = "5s"
        timeout  = "2s"
      }
    }

    task "nginx" {
      driver      = "docker"
      kill_signal = "SIGQUIT"
      config {
        image   = "nginx:1.27"
        ports   = ["http"]
        volumes = ["local/conf.d:/etc/nginx/conf.d"]
      }
      template {
        destination   = "local/conf.d/upstreams.conf"
        change_mode   = "signal"
        change_signal = "SIGHUP"
        data          = <<-EOT
          upstream backend {
          {{- range nomadService "backend" }}
            server {{ .Address }}:{{ .Port }};
          {{- else }}
            server 127.0.0.1:65535;
          {{- end }}
          }
          server {
            listen 80;
            location / { proxy_pass http://backend; }
          }
        EOT
      }
    }
  }
}
