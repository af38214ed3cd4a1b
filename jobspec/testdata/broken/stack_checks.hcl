job "inventory" {
  stack {
    version = "1.0.0"
    shift {
      check "errors" {
        metric   = "http_5xx"
        max      = "1"
        interval = "1m"
      }
      check "slow" {
        metric = "http_p99"
      }
      check "both" {
        metric = "http_p99"
        max    = "1s"
        http   = "https://ci.example.com/gate"
      }
      check "gate" {
        http     = "ftp://ci.example.com/gate"
        interval = "10s"
      }
      check "gate" {
        http = "https://ci.example.com/gate"
        than = "from"
      }
      min_requests = -1
      interval     = "1s"
      failures     = 101
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
