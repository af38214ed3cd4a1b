job "unveil" {
  group "g" {
    task "t" {
      driver = "exec"
      config {
        command = "/bin/true"
        unveil  = ["r:/etc/ssl", "rw:/srv/../etc"]
      }
    }
    task "u" {
      driver = "exec"
      config {
        command = "/bin/true"
        unveil  = "r:/etc/ssl"
      }
    }
  }
}
