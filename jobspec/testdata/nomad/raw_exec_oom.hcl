# A raw_exec option that Reeve does not have.
# accept: refused
# error: the driver "raw_exec" has no config key "oom_score_adj"; it takes "args", "command" and "work_dir"

job "raw-exec-oom" {
  datacenters = ["dc1"]

  group "raw" {
    task "oom" {
      driver = "raw_exec"

      config {
        command       = "/usr/local/bin/api"
        oom_score_adj = 100
      }
    }
  }
}
