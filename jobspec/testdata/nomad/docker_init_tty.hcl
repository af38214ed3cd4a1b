# An init process, a terminal, and groups.
# accept: yes
# ends: waits: interactive, tty need a Docker daemon

job "docker-init-tty" {
  datacenters = ["dc1"]

  group "docker" {
    task "tty" {
      driver = "docker"

      config {
        image       = "registry.example.com/shop/web:1.4.2"
        init        = true
        interactive = true
        tty         = true
        group_add   = ["audio", "44"]
        runtime     = "runc"
      }
    }
  }
}
