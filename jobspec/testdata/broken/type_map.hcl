job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      env = ["A=1"]
      meta {
        list = [1, 2]
      }
    }
  }
}
