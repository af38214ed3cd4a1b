job "inventory" {
  stack {
    version = "1.0.0"
    expose {
      host    = "a.example.com"
      sticky  = "client"
      preview = true
    }
    expose {
      host    = "b.example.com"
      preview = "public"
    }
    expose {
      host    = "c.example.com"
      preview = false
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
