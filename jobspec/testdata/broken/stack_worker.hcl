job "mailer" {
  stack {
    version = "1.0.0"
    shift {
      policy = "atomic"
    }
    expose {
      host = "mail.example.com"
    }
  }
  group "worker" {
    task "mail" {
      driver = "raw_exec"
      config {
        command = "/bin/mail"
      }
    }
  }
}
