variable "version" {
  type    = string
  default = "1.1.0"
}

job "inventory" {
  stack {
    version = var.version
    depends "db" {
      version = "2.1"
    }
    depends "search" {
      version  = "1.4"
      optional = true
    }
    policy      = "retain-active"
    initial_ttl = "30m"
    extend_ttl  = "30m"
    grace       = "24h"
    idle        = "168h"
    max_stacks  = 10
    shift {
      policy        = "steps"
      steps         = ["5%", "5m", "25%", "wait", "50%", "10m"]
      after_failure = "reverse"
      failures      = 2
    }
    warm {
      http {
        path     = "/warm?size=1"
        requests = 200
        over     = "30s"
      }
      http {
        path     = "/"
        requests = 1
        over     = "1s"
      }
    }
    expose {
      host = "inventory.example.com"
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
