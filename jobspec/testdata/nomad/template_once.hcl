# A file that is rendered once.
# accept: yes

job "template-once" {
  datacenters = ["dc1"]

  group "template" {
    task "once" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "local/app.conf"
        once        = true
        data        = <<-EOT
 started {{ timestamp }}
EOT
      }
      restart {
        render_templates = true
      }
    }
  }
}
