# Upstreams from the catalog of services.
# accept: yes

job "template-nomad-service" {
  datacenters = ["dc1"]

  group "template" {
    task "service" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-config", "local/app.conf"]
      }
      template {
        destination   = "local/app.conf"
        change_mode   = "signal"
        change_signal = "SIGHUP"
        data          = <<-EOT
{{ range nomadService "redis" }}server {{ .Address }}:{{ .Port }}
{{ end }}
EOT
      }
    }
  }
}
