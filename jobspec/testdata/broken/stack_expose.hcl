job "inventory" {
  stack {
    version = "1.0.0"
    expose {
      host   = "a.example.com"
      sticky = "cookie"
    }
    expose {
      host    = "b.example.com"
      preview = "everybody"
    }
    expose {
      host    = "c.example.com"
      preview = ["public"]
    }
    expose {
      host    = "d.example.com"
      previev = true
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
