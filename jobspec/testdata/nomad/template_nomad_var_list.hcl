# One line for each variable below a path.
# accept: yes

job "template-nomad-var-list" {
  datacenters = ["dc1"]

  group "template" {
    task "list" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "local/app.conf"
        data        = <<-EOT
{{ range nomadVarList "config/shop" }}{{ .Path }}
{{ end }}
EOT
        change_mode = "noop"
      }
    }
  }
}
