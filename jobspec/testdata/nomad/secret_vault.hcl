# A secret from a key-value store.
# accept: refused
# needs: provider
# error: group "secret": task "vault": provider "vault" of the secret "db" is not supported: Reeve does not use Vault; keep the secret in a variable (reeve var put), and set provider = "nomad"

job "secret-vault" {
  datacenters = ["dc1"]

  group "secret" {
    task "vault" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      secret "db" {
        provider = "vault"
        path     = "shop/db"
        config {
          engine = "kv_v2"
        }
      }
    }
  }
}
