# Well written, and nearly everything in it is wrong.
job "web" {
  domain = "my apps"

  group "site" {
    count = 2

    network {
      port "http" {}
    }

    route {
      port = "https"
      host = "no good"
      path = "api?x"
      weight = 1001
      timeout = "-1s"
      sticky = "a b"
      listen = 80
    }

    route {
      protocol   = "tcp"
      port       = "http"
      host       = "db.example.com"
      strip_path = true
    }

    route {
      protocol = "tcp"
      port     = "http"
      path     = "/x"
      tls {
        mode = "passthrough"
      }
    }

    route {
      port = "http"
      path = "/all"
      tls {
        mode     = "passthrough"
        redirect = true
      }
    }

    route {
      protocol = "grpc"
      host     = "g.example.com"
      port     = "http"
      tls {
        redirect = true
      }
    }

    dynamic "route" {
      for_each = ["a.example.com", "A.example.com"]
      content {
        host = route.value
        port = "http"
      }
    }

    metric_tag "both" {
      static  = "a"
      dynamic = "INDEX"
    }

    metric_tag "none" {}

    service {
      name     = "the site"
      port     = "htp"
      provider = "nomad"

      weights {
        passing = -1
      }

      check {
        type                   = "http"
        path                   = "/%zz"
        method                 = "GET IT"
        interval               = "10ms"
        timeout                = "0s"
        kind                   = "readiness"
        start_timeout          = "5s"
        initial_delay          = "-1s"
        success_before_passing = -1
        header = {
          "a b" = ["c"]
        }
        check_restart {
          limit = -3
          grace = "-1s"
        }
      }

      check {
        name                     = "cart"
        type                     = "tcp"
        port                     = "grpc"
        grpc_service             = "shop.Cart"
        interval                 = "10s"
        timeout                  = "1s"
        kind                     = "liveness"
        initial_delay            = "1m"
        start_timeout            = "30s"
        failures_before_critical = -1
      }

      check {
        name     = "cart"
        type     = "script"
        interval = "10s"
        timeout  = "1s"
        task     = "sever"
      }
    }

    restart {
      immediate = 5
      attempts  = 3
      delay     = "10s"
      max_delay = "5s"
    }

    update {
      min_healthy_time = "10m"
      healthy_deadline = "5m"
    }

    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/cat"
      }
      monitor {
        command       = ""
        interval      = "1ms"
        start_timeout = "-1s"
      }
    }
  }
}
