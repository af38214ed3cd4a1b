# Other delimiters, for files that contain braces.
# accept: yes

job "template-delimiters" {
  datacenters = ["dc1"]

  group "template" {
    task "delimiters" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination          = "local/app.conf"
        left_delimiter       = "[["
        right_delimiter      = "]]"
        error_on_missing_key = true
        data                 = "zone = [[ env \"node.datacenter\" ]]"
      }
    }
  }
}
