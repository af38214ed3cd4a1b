# A check of every type, on a group's service and on a task's.
job "checked" {
  group "app" {
    network {
      port "http" {}
      port "grpc" {}
    }

    service {
      name         = "checked"
      port         = "http"
      address_mode = "host"
      on_update    = "require_healthy"

      check {
        name                     = "page"
        type                     = "http"
        protocol                 = "https"
        method                   = "POST"
        path                     = "/health?deep=1"
        body                     = "{\"ping\": true}"
        interval                 = "15s"
        timeout                  = "3s"
        tls_skip_verify          = true
        tls_server_name          = "checked.internal"
        initial_status           = "critical"
        success_before_passing   = 2
        failures_before_critical = 3

        header {
          Authorization = ["Basic ZWxhc3RpYzpjaGFuZ2VtZQ=="]
          Accept        = "application/json"
        }

        check_restart {
          limit           = 3
          grace           = "60s"
          ignore_warnings = true
        }
      }

      check {
        name     = "port"
        type     = "tcp"
        interval = "10s"
        timeout  = "2s"
      }

      check {
        name         = "rpc"
        type         = "grpc"
        port         = "grpc"
        grpc_service = "health.v1"
        grpc_use_tls = true
        interval     = "10s"
        timeout      = "2s"
      }

      check {
        name     = "deep"
        type     = "script"
        task     = "app"
        command  = "/usr/bin/pg_isready"
        args     = ["-q"]
        interval = "30s"
        timeout  = "5s"
      }
    }

    task "app" {
      driver = "raw_exec"

      service {
        name     = "checked-task"
        provider = "nomad"
        port     = "grpc"

        weights {
          passing = 10
          warning = 1
        }

        tagged_addresses {
          wan = "203.0.113.7"
        }

        check_restart {
          limit = 2
        }

        check {
          type     = "tcp"
          interval = "10s"
          timeout  = "1s"
        }
      }

      config {
        command = "/srv/app"
      }
    }
  }
}
