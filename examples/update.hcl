# An update that is watched: one instance at a time, each healthy for a
# second before the next; and back to the last stable version when it fails.
#
#     reeve job run examples/update.hcl
#     reeve job plan -var version=2 examples/update.hcl
#     reeve job run -var version=2 examples/update.hcl
#     reeve job run -var version=3 -var broken=true examples/update.hcl
#     reeve job history -p update
variable "version" {
  type    = string
  default = "1"
}

variable "broken" {
  type        = bool
  default     = false
  description = "Never become healthy, so that the update fails."
}

job "update" {
  group "web" {
    count = 3

    network {
      port "http" {}
    }

    service {
      name     = "update"
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
      max_parallel      = 1
      min_healthy_time  = "1s"
      healthy_deadline  = "4s"
      progress_deadline = "6s"
      auto_revert       = true
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
