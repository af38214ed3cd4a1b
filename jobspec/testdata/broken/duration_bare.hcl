job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      kill_timeout = 30
    }
  }
}
