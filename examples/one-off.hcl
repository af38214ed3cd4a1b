# A one-off task: it is dispatched with what it has to do, ends with a result,
# and somebody is told of that.
#
#     reeve job run examples/one-off.hcl
#     reeve job dispatch -meta path=/etc -detach count-files
#     reeve job status count-files/dispatch-...
#
# Nobody listens at the callback's address as long as you do not: the callback is
# pending then, and tried again for an hour.
job "count-files" {
  type = "batch"

  max_pending    = "10m" # a child that is not placed by then has failed
  max_rejections = 3     # so often may nodes refuse to run it

  callback {
    url           = "http://127.0.0.1:9999/done"
    secret        = "between the two of us" # signs the body
    give_up_after = "1h"

    headers {
      X-Token = "12345"
    }
  }

  parameterized {
    meta_required = ["path"]
  }

  group "count" {
    task "count" {
      driver      = "raw_exec"
      result_file = "local/result.json"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo \"{\\\"files\\\": $(ls \"$NOMAD_META_path\" | wc -l)}\" > \"$NOMAD_TASK_DIR/result.json\""]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
