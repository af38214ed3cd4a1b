# A time limit for the whole allocation.
# accept: yes

job "batch-max-run" {
  datacenters = ["dc1"]
  type        = "batch"

  group "batch" {
    max_run_duration = "2h"

    task "run" {
      driver = "exec"

      config {
        command = "/usr/local/bin/crawl"
      }
    }
  }
}
