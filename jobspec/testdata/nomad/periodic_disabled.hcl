# A periodic job that starts only when an operator forces it.
# accept: yes

job "periodic-disabled" {
  datacenters = ["dc1"]
  type        = "batch"

  periodic {
    cron    = "@daily"
    enabled = false
  }

  group "periodic" {
    task "disabled" {
      driver = "exec"

      config {
        command = "/usr/local/bin/rebuild-index"
      }
    }
  }
}
