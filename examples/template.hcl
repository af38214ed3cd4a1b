# A configuration file from a variable. Create the variable first:
#   reeve var put nomad/jobs/template user=ada password=secret
# A later change of it sends SIGHUP to the task.
job "template" {
  group "app" {
    task "app" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "trap 'wc -l local/app.conf' HUP; while true; do sleep 1; done"]
      }

      template {
        destination   = "local/app.conf"
        change_mode   = "signal"
        change_signal = "SIGHUP"
        data          = <<EOF
{{with nomadVar "nomad/jobs/template"}}
user = {{.user | toJSON}}
password = {{.password | toJSON}}
{{end}}
node = "{{env "node.unique.id"}}"
EOF
      }

      resources {
        cpu    = 50
        memory = 32
      }
    }
  }
}
