# A template that is a file of the task.
# accept: yes

job "template-source" {
  datacenters = ["dc1"]

  group "template" {
    task "source" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        source      = "local/app.conf.tpl"
        destination = "local/app.conf"
      }
      artifact {
        source = "https://files.example.com/app.conf.tpl"
      }
    }
  }
}
