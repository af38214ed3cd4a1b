# Vault for all tasks of a job.
# accept: refused
# needs: vault
# error: group "api": task "api": the vault block is not supported: Reeve does not use Vault; remove it, and keep secrets in variables (reeve var put), which a task with an identity block reads

job "api" {
  vault {
    role = "api"
  }
  group "api" {
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
