# Two instances at a time, with automatic return.
# accept: yes

job "update-rolling" {
  datacenters = ["dc1"]

  group "update" {
    count = 6
    update {
      max_parallel      = 2
      health_check      = "checks"
      min_healthy_time  = "30s"
      healthy_deadline  = "5m"
      progress_deadline = "10m"
      auto_revert       = true
    }

    task "rolling" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
