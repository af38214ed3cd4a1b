# One instance of a new version beside the old ones, which are not touched until
# somebody promotes it; and back to the last stable version when it fails.
#
#     reeve job run examples/canary.hcl
#     reeve job run -detach -var version=2 examples/canary.hcl
#     reeve plan show canary deploy
#     reeve deployment promote DEPLOYMENT
#     reeve job run -detach -var version=3 -var broken=true examples/canary.hcl
variable "version" {
  type    = string
  default = "1"
}

variable "broken" {
  type        = bool
  default     = false
  description = "Never become healthy, so that the canary fails."
}

job "canary" {
  group "web" {
    count = 3

    network {
      port "http" {}
    }

    service {
      name     = "canary"
      port     = "http"
      provider = "nomad"

      check {
        type     = "http"
        path     = "/healthz"
        interval = "1s"
        timeout  = "1s"
      }
    }

    update {
      canary            = 1
      max_parallel      = 1
      min_healthy_time  = "1s"
      healthy_deadline  = "4s"
      progress_deadline = "6s"
      auto_revert       = true
      auto_promote      = false
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "${attr.reeve.binary}"
        args    = ["example-web", "-start-delay", var.broken ? "1h" : "0s"]
      }

      env {
        VERSION = var.version
      }

      resources {
        cpu    = 50
        memory = 32
      }

      kill_signal = "SIGTERM"
    }
  }
}
