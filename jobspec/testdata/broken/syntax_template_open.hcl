job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      env {
        A = "${HOME"
      }
    }
  }
}
