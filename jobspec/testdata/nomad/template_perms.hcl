# Owner, group and permissions of the file.
# accept: yes

job "template-perms" {
  datacenters = ["dc1"]

  group "template" {
    task "perms" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "secrets/key.pem"
        data        = "placeholder"
        perms       = "600"
        uid         = 33
        gid         = 33
        change_mode = "restart"
      }
    }
  }
}
