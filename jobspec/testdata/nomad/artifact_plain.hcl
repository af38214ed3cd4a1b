# A file that is not unpacked, and belongs to the task's user.
# accept: yes

job "artifact-plain" {
  datacenters = ["dc1"]

  group "artifact" {
    task "plain" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      artifact {
        source   = "http://files.internal:8088/models/tiny.tar.gz"
        insecure = true
        chown    = true
        options {
          archive = false
        }
      }
    }
  }
}
