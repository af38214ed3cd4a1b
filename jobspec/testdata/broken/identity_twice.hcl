job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      identity {
        env = true
      }
      identity {
        file = true
      }
    }
  }
}
