job "inventory" {
  stack {
    version = "1.0.0"
    shift {
      policy        = "linear"
      over          = "20m"
      after_failure = "hold"
      check "errors" {
        metric = "http_5xx"
        max    = "1%"
        than   = "from+0.5%"
      }
      check "slow" {
        metric = "http_p99"
        than   = "from*1.5"
      }
      check "smoke" {
        http     = "https://ci.example.com/gate"
        interval = "1m"
      }
      min_requests = 100
      interval     = "30s"
      failures     = 2
    }
  }
  group "api" {
    network {
      port "http" {}
    }
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/server"
      }
    }
  }
}
