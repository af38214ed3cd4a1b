# Two canaries, promoted by themselves once they are healthy.
job "api" {
  update {
    max_parallel      = 2
    canary            = 2
    auto_promote      = true
    auto_revert       = true
    health_check      = "checks"
    min_healthy_time  = "30s"
    healthy_deadline  = "5m"
    progress_deadline = "0"
  }

  group "api" {
    count = 6

    update {
      max_parallel = 3
    }

    migrate {
      max_parallel     = 2
      health_check     = "task_states"
      min_healthy_time = "15s"
      healthy_deadline = "2m"
    }

    network {
      port "http" {}
    }

    service {
      name        = "api"
      port        = "http"
      provider    = "nomad"
      tags        = ["live"]
      canary_tags = ["canary"]

      canary_meta {
        stage = "canary"
      }

      meta {
        stage = "live"
      }

      check {
        type     = "http"
        path     = "/ready"
        interval = "5s"
        timeout  = "1s"

        check_restart {
          limit = 3
          grace = "90s"
        }
      }
    }

    task "api" {
      driver = "docker"
      config {
        image = "registry.internal/api:3.1.4"
        ports = ["http"]
      }
    }
  }
}
