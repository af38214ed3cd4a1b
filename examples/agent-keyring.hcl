# The keys of a server, sealed by the transit engine of HashiCorp Vault or OpenBao. The policy of
# the token permits it to update transit/encrypt/reeve and transit/decrypt/reeve:
#
#     vault write -f transit/keys/reeve
#     reeve agent -server -bootstrap -config examples/agent-keyring.hcl -data-dir /var/lib/reeve
#
# docs/variables.md explains the rest.
keyring "transit" {
  address  = "https://vault.example:8200"
  key_name = "reeve"
  token    = "file:///etc/reeve/vault-token"
}
