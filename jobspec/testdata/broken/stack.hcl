job "Inventory" {
  stack {
    version = "1.2"
    depends "db" {
      version = "2.x"
    }
    depends "Inventory" {
      version = "1.0"
    }
    policy      = "retain-some"
    initial_ttl = "0s"
    extend_ttl  = "999999h"
    grace       = "-1s"
    max_stacks  = 0
    shift {
      policy = "linear"
      over   = "1ms"
      steps  = ["50%", "5%"]
      check "errors" {
        metric = "http_5xx"
      }
      check "slow" {
        metric = "http_p99"
        max    = "1%"
        than   = "from*0.5"
      }
      check "gate" {
        http = "ftp://ci"
        max  = "1%"
      }
      check "empty" {}
      interval = "1s"
      failures = 101
    }
    expose {
      host = "INVENTORY:80"
    }
    expose {
      host   = "a.example.com"
    }
    expose {
      host = "a.example.com"
    }
  }
  group "api" {
    network {
      port "http" {}
    }
    route {
      host = "a.example.com"
      port = "http"
    }
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/server"
      }
    }
  }
}
