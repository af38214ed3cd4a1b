# A secret from the variables of the cluster.
# accept: yes

job "secret-nomad" {
  datacenters = ["dc1"]

  group "secret" {
    task "nomad" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      secret "db" {
        provider = "nomad"
        path     = "secrets/db"
        config {
          namespace = "default"
        }
      }
      env {
        DB_PASSWORD = "${secret.db.password}"
      }
    }
  }
}
