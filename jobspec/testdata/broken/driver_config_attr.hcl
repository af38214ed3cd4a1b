job "web" {
  group "app" {
    task "server" {
      driver = "exec"
      config = {
        command = "/bin/true"
        arguments = ["a"]
        user = "root"
      }
    }
  }
}
