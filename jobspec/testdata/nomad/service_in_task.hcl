# Services inside the task, as in older files.
# accept: yes

job "service-in-task" {
  datacenters = ["dc1"]

  group "service" {
    network {
      port "http" {}
    }

    task "task" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      service {
        name     = "${JOB}-api"
        port     = "http"
        provider = "nomad"
        check {
          type     = "tcp"
          interval = "10s"
          timeout  = "2s"
        }
      }
    }
  }
}
