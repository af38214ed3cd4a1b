# A task that ends and leaves a result: its node reads result_file when the task
# has ended well, and the result is in alloc status and in the API.
#
#     reeve job run examples/result.hcl
#     reeve alloc status $(reeve job status -t '{{(index .Allocations 0).ID}}' result)
job "result" {
  type = "batch"

  group "count" {
    task "count" {
      driver      = "raw_exec"
      result_file = "local/result.json" # in the task's directory, at most 10 KiB

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"{\\\"files\\\": $(ls /etc | wc -l)}\" > \"$NOMAD_TASK_DIR/result.json\""]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
