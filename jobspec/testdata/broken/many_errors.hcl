variable "n" {}
job "web" {
  typ = "service"
  group "app" {
    count = "x"
    task "a" {
      driver = "raw_exec"
      config {
        cmd = "x"
      }
      resource {
        cpu = 1
      }
    }
  }
}
