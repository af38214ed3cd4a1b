# A task that runs in the hours of business.
# accept: later
# needs: schedule

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
