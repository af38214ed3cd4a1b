# Several schedules for one job.
# accept: yes

job "periodic-crons" {
  datacenters = ["dc1"]
  type        = "batch"

  periodic {
    crons   = ["0 6 * * 1-5", "0 10 * * 6,0", "@monthly"]
    enabled = true
  }

  group "periodic" {
    task "crons" {
      driver = "exec"

      config {
        command = "/usr/local/bin/sync"
      }
    }
  }
}
