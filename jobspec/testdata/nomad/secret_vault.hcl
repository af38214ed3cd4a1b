# A secret from a key-value store.
# accept: later
# needs: secret

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
