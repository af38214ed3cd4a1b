# A nightly job in a time zone.
# accept: yes

job "periodic-cron" {
  datacenters = ["dc1"]
  type        = "batch"

  periodic {
    cron             = "30 2 * * *"
    prohibit_overlap = true
    time_zone        = "Europe/Berlin"
  }

  group "periodic" {
    task "cron" {
      driver = "exec"

      config {
        command = "/usr/local/bin/report"
      }
    }
  }
}
