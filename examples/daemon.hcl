# A program that puts itself into the background: its process ends at once, with 0,
# and what it leaves behind is the task. The monitor says whether that is well.
#
#     reeve job run examples/daemon.hcl
#     reeve alloc status ID      # the allocation that it shows
job "daemon" {
  update {
    min_healthy_time = "1s"
  }

  group "app" {
    restart {
      delay = "1s"
    }

    task "server" {
      driver = "raw_exec"
      daemon = true

      config {
        command = "/bin/sh"
        args    = ["-c", "setsid sleep 1000 & echo $! > local/pid"]
      }

      monitor {
        command  = "/bin/sh"
        args     = ["-c", "kill -0 $(cat local/pid)"]
        interval = "10s"
      }
    }
  }
}
