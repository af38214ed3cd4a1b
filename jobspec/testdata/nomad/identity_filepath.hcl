# A token at a path that the task chooses.
# accept: yes

job "identity-filepath" {
  datacenters = ["dc1"]

  group "identity" {
    task "filepath" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      identity {
        name     = "aws"
        aud      = ["sts.amazonaws.com"]
        filepath = "local/aws.jwt"
        ttl      = "30m"
      }
      env {
        AWS_WEB_IDENTITY_TOKEN_FILE = "${NOMAD_TASK_DIR}/aws.jwt"
      }
    }
  }
}
