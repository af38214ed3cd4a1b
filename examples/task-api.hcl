# An isolated task that reads the secret of its job on the socket of the API, without the
# address of an agent and without a program of Reeve's.
#
#   reeve var put nomad/jobs/shop-curl user=shop password=@password.txt
#   reeve job run examples/task-api.hcl
#   reeve alloc logs -job shop-curl
job "shop-curl" {
  type = "batch"

  group "shop" {
    task "shop" {
      driver = "exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "curl -s --unix-socket $NOMAD_SECRETS_DIR/api.sock -H \"Authorization: Bearer $NOMAD_TOKEN\" localhost/v1/var/nomad/jobs/shop-curl"]
      }

      identity {
        env = true
      }
    }
  }
}
