# A task on every node, each night.
# accept: yes

job "sysbatch-periodic" {
  datacenters = ["dc1"]
  type        = "sysbatch"

  periodic {
    cron             = "15 3 * * *"
    prohibit_overlap = true
  }

  group "sysbatch" {
    task "periodic" {
      driver = "raw_exec"

      config {
        command = "/usr/sbin/fstrim"
        args    = ["--all"]
      }
    }
  }
}
