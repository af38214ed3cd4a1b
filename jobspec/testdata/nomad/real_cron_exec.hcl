# A program of the node that starts each hour, isolated, as a user.
# accept: yes

job "rotate" {
  type = "batch"

  periodic {
    cron             = "0 * * * *"
    prohibit_overlap = true
  }

  group "rotate" {
    task "rotate" {
      driver = "exec"
      user   = "nobody"
      config {
        command = "/usr/local/bin/rotate-logs"
        args    = ["--keep", "14"]
      }
      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
