# An exporter on every node that sees the machine: its processes, network and files.
# accept: yes

job "node-exporter" {
  type = "system"

  group "exporter" {
    network {
      port "metrics" {
        static = 9100
      }
    }

    service {
      name     = "node-exporter"
      port     = "metrics"
      provider = "nomad"
      check {
        type     = "http"
        path     = "/metrics"
        interval = "15s"
        timeout  = "2s"
      }
    }

    task "exporter" {
      driver = "docker"
      config {
        image        = "prom/node-exporter:v1.8.1"
        network_mode = "host"
        pid_mode     = "host"
        volumes      = ["/:/host:ro,rslave"]
        args         = ["--path.rootfs=/host", "--web.listen-address=:${NOMAD_PORT_metrics}"]
      }
      resources {
        cpu    = 50
        memory = 64
      }
    }
  }
}
