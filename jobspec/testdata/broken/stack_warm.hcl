job "inventory" {
  stack {
    version = "1.0.0"
    depends "my-db" {
      version = "1.0"
    }
    depends "my-db" {
      version = "2.0"
    }
    warm {
      http {
        path     = "warm"
        requests = 100000
        over     = "6m"
      }
      http {
        path     = "/"
        requests = 0
        over     = "10ms"
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
