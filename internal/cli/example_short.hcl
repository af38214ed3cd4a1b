job "example" {
  group "web" {
    count = 2

    network {
      port "http" {}
    }

    service {
      name     = "example-web"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "2s"
        timeout  = "1s"
      }
    }

    update {
      max_parallel     = 1
      min_healthy_time = "2s"
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }

      env {
        VERSION = "1"
      }

      resources {
        cpu    = 100
        memory = 64
      }
    }
  }
}
