job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      service {
        name = "a"
        tag  = ["x"]
        ports = "http"
      }
    }
  }
}
