# A schedule for a job that never ends.
# accept: refused
# error: type "service" cannot be periodic: its instances never end; use batch or sysbatch

job "api" {
  type = "service"
  periodic {
    cron = "@daily"
  }
  group "api" {
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
