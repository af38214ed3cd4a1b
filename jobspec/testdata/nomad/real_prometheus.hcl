# Metrics, with delimiters of the template that the configuration does not use.
# accept: yes

job "prometheus" {
  group "monitoring" {
    network {
      mode = "bridge"
      port "ui" {
        to = 9090
      }
    }

    service {
      name     = "prometheus"
      port     = "ui"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/-/healthy"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "prometheus" {
      driver = "docker"
      config {
        image = "quay.io/prometheus/prometheus:v2.53.0"
        args = [
          "--config.file=/etc/prometheus/config/prometheus.yml",
          "--storage.tsdb.path=/alloc/data",
          "--web.enable-lifecycle",
        ]
        volumes = ["local/config:/etc/prometheus/config"]
        ports   = ["ui"]
      }
      template {
        destination     = "local/config/prometheus.yml"
        left_delimiter  = "[["
        right_delimiter = "]]"
        change_mode     = "signal"
        change_signal   = "SIGHUP"
        data            = <<-EOT
          scrape_configs:
            - job_name: nodes
              static_configs:
                - targets: [ [[ range nomadService "node-exporter" ]]"[[ .Address ]]:[[ .Port ]]", [[ end ]] ]
              relabel_configs:
                - replacement: "{{ instance }}"
        EOT
      }
      template {
        destination = "local/config/alerts.yml"
        data        = "groups: []"
        change_mode = "noop"
      }
    }
  }
}
