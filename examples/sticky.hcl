# A counter in a directory that stays: when the job is changed, its replacement
# runs on the same node and finds the file where it was.
#
#     reeve job run examples/sticky.hcl
#     reeve alloc logs -job counter
#     reeve job run -var step=2 examples/sticky.hcl
#     reeve alloc logs -job counter
variable "step" {
  type    = number
  default = 1
}

job "counter" {
  group "counter" {
    ephemeral_disk {
      sticky = true
    }

    update {
      min_healthy_time = "0s"
    }

    task "count" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "n=$(cat local/n 2>/dev/null || echo 0); n=$((n + $STEP)); echo $n > local/n; echo counted to $n; exec sleep 3600"]
      }

      env {
        STEP = var.step
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
