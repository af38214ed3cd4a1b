# A changed file is followed by a command.
# accept: yes

job "template-script" {
  datacenters = ["dc1"]

  group "template" {
    task "script" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "local/app.conf"
        data        = "level = info"
        change_mode = "script"
        change_script {
          command       = "/usr/local/bin/reload"
          args          = ["--config", "local/app.conf"]
          timeout       = "20s"
          fail_on_error = true
        }
      }
    }
  }
}
