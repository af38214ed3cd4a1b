# A raw_exec task that the kernel ends before others when memory is short.
# accept: yes

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
