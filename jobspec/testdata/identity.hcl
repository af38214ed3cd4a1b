# Who the task is, what it may run, and what it is told about secrets.
job "identified" {
  ui {
    description = "# The identified service"

    link {
      label = "Dashboard"
      url   = "https://grafana.internal/d/identified"
    }

    link {
      label = "Runbook"
      url   = "https://wiki.internal/identified"
    }
  }

  vault {
    role = "default"
  }

  group "app" {
    task "app" {
      driver = "raw_exec"

      identity {
        env  = true
        file = true
      }

      identity {
        name          = "aws"
        aud           = ["sts.amazonaws.com"]
        ttl           = "1h"
        change_mode   = "signal"
        change_signal = "SIGUSR1"
        filepath      = "secrets/aws.jwt"
      }

      action "flush" {
        command = "/srv/app"
        args    = ["flush", "--all"]
      }

      secret "db" {
        provider = "keeper"
        path     = "nomad/jobs/identified"
        config {
          namespace = "default"
        }
        env {
          DB_USER = "app"
        }
      }

      schedule {
        cron {
          start    = "0 8 * * 1-5"
          end      = "0 18"
          timezone = "Europe/Berlin"
        }
      }

      config {
        command = "/srv/app"
      }
    }

    task "other" {
      driver = "raw_exec"

      vault {
        role        = "own"
        change_mode = "noop"
        env         = false
      }

      consul {
        namespace = "team"
      }

      config = {
        command = "/srv/other"
      }
    }
  }
}
