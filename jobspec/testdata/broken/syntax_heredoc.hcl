job "web" {
  group "app" {
    task "server" {
      driver = "raw_exec"
      config {
        command = "/bin/true"
      }
      template {
        data = <<EOT
hello
  EOT not at the end
      }
    }
  }
}
