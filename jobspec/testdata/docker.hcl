# What docker users write: nested blocks of the driver are nobody's business here.
job "wiki" {
  group "wiki" {
    network {
      mode = "bridge"
      port "http" {
        static = 80
        to     = 8080
      }
    }

    volume "pages" {
      type      = "host"
      source    = "wiki-pages"
      read_only = false
    }

    task "wiki" {
      driver = "docker"

      volume_mount {
        volume      = "pages"
        destination = "/var/lib/wiki"
        read_only   = false
      }

      config {
        image        = "registry.internal/wiki:2.5@sha256:0123"
        ports        = ["http"]
        force_pull   = true
        network_mode = "host"
        cap_drop     = ["ALL"]

        auth {
          username = "robot"
          password = "from-a-variable"
        }

        logging {
          type = "journald"
          config {
            tag = "wiki"
          }
        }

        mount {
          type   = "tmpfs"
          target = "/tmp"
          tmpfs_options {
            size = 100000000
          }
        }

        mount {
          type     = "bind"
          source   = "local/wiki.conf"
          target   = "/etc/wiki.conf"
          readonly = true
        }

        labels {
          team = "docs"
        }

        ulimit {
          nofile = "2048:4096"
        }

        volumes = [
          "/etc/ssl/certs:/etc/ssl/certs:ro",
        ]
      }

      resources {
        cpu    = 500
        memory = 512
      }
    }
  }
}
