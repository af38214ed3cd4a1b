# Several groups with policies of their own; the job's meta and secrets shared.
job "platform" {
  namespace   = "default"
  region      = "global"
  all_at_once = false

  meta {
    team = "platform"
  }

  env {
    LOG_LEVEL = "info"
  }

  reschedule {
    delay          = "30s"
    delay_function = "exponential"
    max_delay      = "1h"
    unlimited      = true
  }

  group "frontend" {
    count = 3
    meta {
      tier = "front"
    }
    task "nginx" {
      driver = "exec"
      config {
        command = "/usr/sbin/nginx"
      }
      env {
        LOG_LEVEL = "debug"
      }
    }
  }

  group "backend" {
    count = 2

    env {
      DB_HOST = "db.internal"
    }

    task "api" {
      driver = "exec"
      config {
        command = "/srv/api"
      }
    }

    task "worker" {
      driver = "exec"
      config {
        command = "/srv/worker"
      }
      meta {
        queue = "default"
      }
    }
  }

  group "standby" {
    count = 0
    task "standby" {
      driver = "mock"
      config {
        run_for   = "10s"
        exit_code = 1
      }
    }
  }
}
