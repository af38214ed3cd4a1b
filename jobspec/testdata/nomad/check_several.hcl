# Several checks of one service, on two ports.
# accept: yes

job "check-several" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name     = "api"
      port     = "http"
      provider = "nomad"
      check {
        name     = "alive"
        type     = "tcp"
        interval = "5s"
        timeout  = "1s"
      }
      check {
        name     = "ready"
        type     = "http"
        path     = "/ready"
        interval = "10s"
        timeout  = "2s"
      }
    }

    task "several" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
