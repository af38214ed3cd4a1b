# A mount block for a directory of the host, with its propagation.
# accept: yes

job "docker-mount-bind" {
  datacenters = ["dc1"]

  group "docker" {
    task "bind" {
      driver = "docker"

      config {
        image = "registry.example.com/shop/web:1.4.2"
        mount {
          type     = "bind"
          source   = "/etc/ssl/certs"
          target   = "/etc/ssl/certs"
          readonly = true
          bind_options {
            propagation = "rslave"
          }
        }
      }
    }
  }
}
