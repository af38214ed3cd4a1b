# Dispatched with metadata only; the values reach the task by its environment.
# accept: yes

job "parameterized-meta" {
  datacenters = ["dc1"]
  type        = "batch"

  parameterized {
    payload       = "forbidden"
    meta_required = ["recipient"]
  }

  meta {
    sender = "robot@example.com"
  }

  group "parameterized" {
    task "meta" {
      driver = "exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "exec /usr/local/bin/mail --to \"$NOMAD_META_recipient\""]
      }
    }
  }
}
