# A system job that replaces its instances on two nodes at a time.
# accept: yes

job "system-update" {
  datacenters = ["dc1"]
  type        = "system"

  group "system" {
    update {
      max_parallel     = 2
      min_healthy_time = "15s"
      healthy_deadline = "3m"
      auto_revert      = true
    }

    task "update" {
      driver = "exec"

      config {
        command = "/usr/local/bin/dns-cache"
      }
    }
  }
}
