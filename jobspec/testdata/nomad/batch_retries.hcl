# Limits for restarts and for other nodes.
# accept: yes

job "batch-retries" {
  datacenters = ["dc1"]
  type        = "batch"

  group "batch" {
    reschedule {
      attempts       = 3
      interval       = "12h"
      delay          = "30s"
      delay_function = "fibonacci"
      max_delay      = "10m"
      unlimited      = false
    }

    task "retries" {
      driver = "exec"

      config {
        command = "/usr/local/bin/settle"
      }
      restart {
        attempts = 5
        interval = "1h"
        delay    = "20s"
        mode     = "fail"
      }
    }
  }
}
