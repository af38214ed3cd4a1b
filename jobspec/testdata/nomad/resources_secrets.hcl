# More room for secrets.
# accept: yes

job "resources-secrets" {
  datacenters = ["dc1"]

  group "resources" {
    task "secrets" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      resources {
        memory  = 128
        secrets = 16
      }
    }
  }
}
