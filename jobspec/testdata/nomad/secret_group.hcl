# A secret for all tasks of a group.
# accept: yes

job "api" {
  group "api" {
    secret "db" {
      provider = "nomad"
      path     = "secrets/db"
    }
    task "api" {
      driver = "exec"
      config {
        command = "/usr/local/bin/api"
      }
      env {
        DB_PASSWORD = "${secret.db.password}"
      }
    }
  }
}
