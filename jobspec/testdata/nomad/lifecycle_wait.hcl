# A container that waits for a database before the main one starts.
# accept: yes

job "wiki" {
  group "wiki" {
    task "await-db" {
      driver = "docker"
      lifecycle {
        hook = "prestart"
      }
      config {
        image   = "busybox:1.36"
        command = "sh"
        args    = ["-c", "until nc -z db.internal 5432; do sleep 2; done"]
      }
    }

    task "wiki" {
      driver = "docker"
      config {
        image = "registry.example.com/wiki:5"
      }
    }
  }
}
