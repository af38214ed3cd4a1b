job "health" {
  group "web" {
    network {
      port "http" {}
    }

    service {
      name = "web"
      port = "http"

      check {
        name                     = "alive"
        type                     = "http"
        path                     = "/alive"
        kind                     = "liveness"
        interval                 = "10s"
        timeout                  = "2s"
        initial_delay            = "1s"
        start_timeout            = "1m"
        failures_before_critical = 3
      }

      check {
        name                   = "ready"
        type                   = "grpc"
        grpc_service           = "shop.Cart"
        grpc_use_tls           = true
        tls_server_name        = "shop.internal"
        kind                   = "readiness"
        interval               = "5s"
        timeout                = "1s"
        success_before_passing = 2
      }
    }

    task "web" {
      driver = "raw_exec"

      config {
        command = "/bin/web"
      }

      monitor {
        command                  = "/bin/check"
        args                     = ["-q", "${NOMAD_PORT_http}"]
        interval                 = "15s"
        timeout                  = "3s"
        initial_delay            = "2s"
        start_timeout            = "90s"
        failures_before_critical = 2
      }
    }
  }
}
