# Vault for all tasks of a group, and secrets in a template.
# accept: refused
# needs: vault
# error: group "vault": task "group": the vault block is not supported: Reeve does not use Vault; remove it, and keep secrets in variables (reeve var put), which a task with an identity block reads

job "vault-group" {
  datacenters = ["dc1"]

  group "vault" {
    vault {
      role = "api"
    }

    task "group" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      template {
        destination = "secrets/db.env"
        env         = true
        data        = <<-EOT
{{ with secret "database/creds/api" }}DB_USER={{ .Data.username }}{{ end }}
EOT
      }
    }
  }
}
