# The policy of routers that read certificates from variables.
namespace "default" {
  variables {
    path "certs/*" {
      capabilities = ["read"]
    }
  }
}
