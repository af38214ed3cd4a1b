# The policy of routers that read certificates from variables, and keep the ones that they order
# by ACME in variables.
namespace "default" {
  variables {
    path "certs/*" {
      capabilities = ["read"]
    }

    path "acme/*" {
      capabilities = ["read", "write"]
    }
  }
}
