# Settings from variables of the cluster.
# accept: yes

job "template-nomad-var" {
  datacenters = ["dc1"]

  group "template" {
    task "var" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination = "secrets/app.env"
        env         = true
        data        = <<-EOT
{{ with nomadVar "nomad/jobs/template-nomad-var" }}
DB_PASSWORD={{ .db_password }}
{{ end }}
EOT
      }
    }
  }
}
