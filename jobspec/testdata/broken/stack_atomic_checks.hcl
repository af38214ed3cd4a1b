job "inventory" {
  stack {
    version = "1.0.0"
    shift {
      policy = "atomic"
      check "errors" {
        metric = "http_5xx"
        max    = "1%"
      }
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
