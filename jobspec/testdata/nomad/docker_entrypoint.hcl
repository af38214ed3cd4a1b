# An entrypoint of its own, and a working directory.
# accept: yes

job "docker-entrypoint" {
  datacenters = ["dc1"]

  group "docker" {
    task "entrypoint" {
      driver = "docker"

      config {
        image      = "registry.example.com/shop/web:1.4.2"
        entrypoint = ["/bin/sh", "-c"]
        args       = ["exec ./start --workers 4"]
        work_dir   = "/srv/app"
      }
    }
  }
}
