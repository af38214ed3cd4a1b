# An agent's configuration whose router has a certificate in a variable:
#
#     reeve agent -dev -config examples/agent-https.hcl
#     reeve acl policy apply router examples/acl/router.hcl
#     reeve acl token create -name router -policy router
#     reeve var put certs/shop certificate=@shop.pem key=@shop.key
#
# Write the token's secret to the file token_file, with mode 0600.
router {
  https      = "127.0.0.1:8443"
  token_file = "/etc/reeve/router.token"

  certificate {
    variable = "certs/shop"
  }
}
