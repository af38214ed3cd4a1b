# A check by a command in the task.
# accept: yes

job "check-script" {
  datacenters = ["dc1"]

  group "check" {
    network {
      port "http" {}
    }

    service {
      name = "api"
      port = "http"
      check {
        name     = "queue"
        type     = "script"
        task     = "script"
        command  = "/usr/local/bin/check-queue"
        args     = ["--max", "1000"]
        interval = "30s"
        timeout  = "5s"
      }
    }

    task "script" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
