job "inventory" {
  stack {
    version = "1.0.0"
    shift {
      min_requests = 100
      interval     = "30s"
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
