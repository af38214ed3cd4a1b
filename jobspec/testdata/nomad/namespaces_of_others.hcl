# Namespaces of Consul and Vault.
# accept: refused
# needs: consul_namespace, vault_namespace
# error: consul_namespace "shop" is not supported: Reeve does not use Consul; remove it: services are in Reeve's own catalog
# error: vault_namespace "shop" is not supported: Reeve does not use Vault; remove it, and keep secrets in variables (reeve var put), which a task with an identity block reads

job "namespaces-of-others" {
  datacenters      = ["dc1"]
  consul_namespace = "shop"
  vault_namespace  = "shop"

  group "namespaces" {
    task "others" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
