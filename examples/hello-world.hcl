# The service that the DC/OS SDK's manual uses: a pod type "hello" with one task,
# and one "world" with two. See docs/sdk.md:
#
#     reeve dev examples/hello-world.hcl
#     curl http://127.0.0.1:4646/service/hello-world/v1/plans/deploy
variable "sleep" {
  type        = number
  default     = 1000
  description = "How long the tasks of world sleep; change it for a new configuration."
}

job "hello-world" {
  # One pod after the other, also the first time.
  plan "deploy" {
    strategy = "serial"
  }

  update {
    max_parallel     = 1
    min_healthy_time = "1s"
  }

  group "hello" {
    network {
      port "http" {}
    }

    service {
      name     = "hello-web"
      port     = "http"
      provider = "nomad"
      check { # what the SDK calls a readiness check
        type     = "http"
        path     = "/healthz"
        interval = "1s"
        timeout  = "1s"
      }
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web"]
      }
      kill_signal = "SIGTERM"
      resources {
        cpu    = 20
        memory = 32
      }
    }
  }

  group "world" {
    count = 2

    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = [var.sleep]
      }
      resources {
        cpu    = 10
        memory = 16
      }
    }

    task "sidecar" {
      driver    = "raw_exec"
      essential = false
      config {
        command = "/bin/sleep"
        args    = [var.sleep]
      }
      resources {
        cpu    = 10
        memory = 16
      }
    }
  }
}
