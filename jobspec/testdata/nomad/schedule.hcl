# A task that runs in the hours of business.
# accept: refused
# needs: schedule
# error: group "schedule": task "schedule": the schedule block is not supported: Nomad has it in its Enterprise edition alone; remove it, and use a job with a periodic block

job "schedule" {
  datacenters = ["dc1"]

  group "schedule" {
    task "schedule" {
      driver = "exec"

      config {
        command = "/usr/local/bin/desk"
      }
      schedule {
        cron {
          start    = "0 8 * * 1-5"
          end      = "0 18"
          timezone = "Europe/Paris"
        }
      }
    }
  }
}
