# An environment as a map with keys that are no identifiers.
# accept: yes

job "environment" {
  group "environment" {
    task "environment" {
      driver = "exec"
      config {
        command = "/usr/bin/env"
      }
      env = {
        "app.level" = "debug"
        WORKERS     = 4
        TRACE       = true
      }
    }
  }
}
