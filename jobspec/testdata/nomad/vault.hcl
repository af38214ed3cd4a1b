# A token of Vault for the task.
# accept: refused
# needs: vault
# error: group "vault": task "vault": the vault block is not supported: Reeve does not use Vault; remove it, and keep secrets in variables (reeve var put), which a task with an identity block reads

job "vault" {
  datacenters = ["dc1"]

  group "vault" {
    task "vault" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      vault {
        role        = "api"
        change_mode = "restart"
        env         = true
      }
    }
  }
}
