# Work that may wait. It holds a port that a more important job
# (preempt-high.hcl) needs, too.
#
#     reeve operator scheduler set-config -preempt-service-scheduler=true
#     reeve job run examples/preempt-low.hcl
#     reeve job run examples/preempt-high.hcl
#     reeve job status preempt-low
#     reeve job stop preempt-high
job "preempt-low" {
  priority = 20

  group "work" {
    network {
      port "http" {
        static = 18099
      }
    }

    update {
      min_healthy_time = "0s"
    }

    task "crunch" {
      driver = "raw_exec"

      # It takes a second to put its work aside.
      config {
        command = "/bin/sh"
        args    = ["-c", "trap 'echo put aside; sleep 1; exit 0' INT; echo at work; while :; do sleep 0.1; done"]
      }

      resources {
        cpu    = 20
        memory = 32
      }
    }
  }
}
