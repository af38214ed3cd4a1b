# A schedule with a field for seconds, and predefined names.
# accept: yes

job "periodic-cron-seconds" {
  datacenters = ["dc1"]
  type        = "batch"

  periodic {
    crons = ["*/30 * * * * *", "@hourly"]
  }

  group "periodic" {
    task "seconds" {
      driver = "exec"

      config {
        command = "/usr/local/bin/poll"
      }
    }
  }
}
