job "web" {
  task "server" {
    driver       = "raw_exec"
    kill_timeout = "-1s"
    config {
      command = "/bin/cat"
    }
  }
}
