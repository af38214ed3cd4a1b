# The content of the template comes from a file beside the job file.
# accept: yes

job "template-file-function" {
  datacenters = ["dc1"]

  group "template" {
    task "function" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "local/app.conf"
        data        = file("files/app.conf.tpl")
      }
    }
  }
}
