job "web" {
  type = "services"
  group "app" {
    restart {
      mode = "failed"
    }
    task "a" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      lifecycle {
        hook = "pre_start"
      }
    }
    service {
      check {
        type = "https"
      }
    }
  }
}
