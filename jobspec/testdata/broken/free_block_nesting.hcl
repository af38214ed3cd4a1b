job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      env {
        A = "b"
        nested {
          C = "d"
        }
      }
      meta "x" {
        a = 1
      }
    }
  }
}
