# The mounts as a list of maps.
# accept: yes

job "docker-mounts-list" {
  datacenters = ["dc1"]

  group "docker" {
    task "list" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        mounts = [
          {
            type   = "bind"
            source = "local/app.toml"
            target = "/etc/app.toml"
          },
          {
            type   = "tmpfs"
            target = "/tmp"
          },
        ]
      }
    }
  }
}
