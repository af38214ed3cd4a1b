# Numbers of successes and failures before a check changes.
# accept: yes

job "check-thresholds" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name = "api"
      port = "http"
      check {
        type                     = "http"
        path                     = "/healthz"
        interval                 = "5s"
        timeout                  = "1s"
        success_before_passing   = 2
        failures_before_critical = 3
        failures_before_warning  = 1
      }
    }

    task "thresholds" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
