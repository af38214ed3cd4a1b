# A task that fails twice before it works. The restart block says how often it
# is started again in place; alloc status tells what happened.
#
#     reeve job run examples/restart.hcl
#     reeve alloc status $(reeve job status -t '{{(index .Allocations 0).ID}}' restart)
job "restart" {
  type = "batch"

  group "flaky" {
    restart {
      attempts = 3
      interval = "1m"
      delay    = "500ms"
      mode     = "fail"
    }

    task "third-time-lucky" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"

        args = ["-c", <<-EOF
          echo try >> "$NOMAD_TASK_DIR/tries"
          tries=$(wc -l < "$NOMAD_TASK_DIR/tries")
          echo "try number $tries"
          [ "$tries" -ge 3 ]
        EOF
        ]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
