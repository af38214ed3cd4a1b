# Work that is started with arguments: the name of a customer, and a list of
# orders as the payload.
#
#     reeve job run examples/dispatch.hcl
#     printf 'apples\npears\n' | reeve job dispatch -meta customer=ann dispatch -
#     reeve job status dispatch
job "dispatch" {
  type = "batch"

  parameterized {
    payload       = "required"
    meta_required = ["customer"]
    meta_optional = ["express"]
  }

  group "orders" {
    task "pack" {
      driver = "raw_exec"

      dispatch_payload {
        file = "orders.txt"
      }

      config {
        command = "/bin/sh"

        args = ["-c", <<-EOF
          while read -r item; do
            echo "$item for $NOMAD_META_customer$${NOMAD_META_express:+, express}"
          done < local/orders.txt
        EOF
        ]
      }

      resources {
        cpu    = 100
        memory = 32
      }
    }
  }
}
