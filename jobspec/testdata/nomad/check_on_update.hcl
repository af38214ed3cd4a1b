# A check that does not delay an update.
# accept: yes

job "check-on-update" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name      = "api"
      port      = "http"
      on_update = "ignore_warnings"
      check {
        name      = "deep"
        type      = "http"
        path      = "/deep"
        interval  = "1m"
        timeout   = "20s"
        on_update = "ignore"
      }
    }

    task "update" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
