# A check that opens a connection.
# accept: yes

job "check-tcp" {
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
        type           = "tcp"
        interval       = "5s"
        timeout        = "1s"
        initial_status = "passing"
      }
    }

    task "tcp" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
