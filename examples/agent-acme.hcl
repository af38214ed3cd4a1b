# An agent's configuration whose router orders certificates:
#
#     reeve acl policy apply router examples/acl/router.hcl
#     reeve acl token create -name router -policy router
#
# Write the token's secret to the file token_file, with mode 0600. Several agents may have this
# configuration: one of them orders, and all of them serve the certificates.
router {
  enabled    = true
  http       = "0.0.0.0:80"
  https      = "0.0.0.0:443"
  token_file = "/etc/reeve/router.token"

  acme {
    domains      = ["shop.example.com"]
    route_hosts  = ["*.apps.example.com"]
    email        = "ops@example.com"
    terms_agreed = true

    # Let's Encrypt's authority for experiments; remove it for certificates that browsers trust.
    directory_url = "https://acme-staging-v02.api.letsencrypt.org/directory"
  }
}
