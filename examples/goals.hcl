# A group whose tasks are not all alike:
#
# - "format" has a goal: it ends, once for each version, and is not started again.
# - "server" is essential. When it crashes, which it does once, all that keeps
#   running is restarted with it: "cache" here.
# - "metrics" is not essential, and fails. When its restarts are used up, the
#   others go on without it.
#
#     reeve job run examples/goals.hcl
#     reeve alloc status ID      # the allocation that it shows
job "goals" {
  update {
    min_healthy_time = "3s"
  }

  group "app" {
    ephemeral_disk {
      size = 500
    }

    restart {
      attempts = 2
      delay    = "1s"
    }

    task "format" {
      driver = "raw_exec"
      goal   = "finish"
      config {
        command = "/bin/sh"
        args    = ["-c", "echo formatted > $NOMAD_ALLOC_DIR/data/disk"]
      }
    }

    task "server" {
      driver    = "raw_exec"
      essential = true
      config {
        command = "/bin/sh"
        args    = ["-c", "[ -e local/crashed ] || { touch local/crashed; sleep 1; exit 1; }; exec sleep 1000000"]
      }
    }

    task "cache" {
      driver = "raw_exec"
      config {
        command = "/bin/sleep"
        args    = ["1000000"]
      }
    }

    task "metrics" {
      driver    = "raw_exec"
      essential = false
      config {
        command = "/bin/sh"
        args    = ["-c", "echo no such host >&2; exit 1"]
      }
    }
  }
}
