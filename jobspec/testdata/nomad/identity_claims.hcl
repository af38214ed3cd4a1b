# More claims in a token.
# accept: refused
# error: group "identity", task "claims": identity "storage": extra_claims are not supported; remove them

job "identity-claims" {
  datacenters = ["dc1"]

  group "identity" {
    task "claims" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      identity {
        name         = "storage"
        aud          = ["storage.example.com"]
        file         = true
        extra_claims = ["team"]
      }
    }
  }
}
