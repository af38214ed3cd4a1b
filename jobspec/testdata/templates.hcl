# Files and environment rendered before the task starts.
job "rendered" {
  group "app" {
    task "app" {
      driver = "exec"

      config {
        command = "local/run.sh"
      }

      template {
        destination = "local/run.sh"
        perms       = "755"
        uid         = 1000
        gid         = 1000
        data        = <<EOF_SCRIPT
#!/bin/sh
# $${HOME} and ${NOMAD_TASK_DIR} are for the shell and the node.
exec /srv/app --home "$${HOME}" --dir "${NOMAD_TASK_DIR}"
EOF_SCRIPT
      }

      template {
        destination          = "secrets/app.env"
        env                  = true
        change_mode          = "restart"
        error_on_missing_key = true
        data                 = <<-EOT
          {{ with nomadVar "nomad/jobs/rendered" }}
          TOKEN={{ .token }}
          {{ end }}
        EOT
      }

      template {
        source          = "local/nginx.conf.tpl"
        destination     = "local/nginx.conf"
        left_delimiter  = "[["
        right_delimiter = "]]"
        change_mode     = "script"
        splay           = "10s"
        once            = false

        change_script {
          command             = "/usr/sbin/nginx"
          args                = ["-s", "reload"]
          timeout             = "15s"
          fail_on_error       = true
          run_on_first_render = false
        }

        wait {
          min = "2s"
          max = "1m"
        }
      }
    }
  }
}
