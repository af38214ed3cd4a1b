# A registry with its configuration in a heredoc and its data on a volume.
# accept: yes

job "registry" {
  group "registry" {
    volume "images" {
      type   = "host"
      source = "images"
    }

    network {
      mode = "bridge"
      port "http" {
        static = 5000
        to     = 5000
      }
    }

    task "registry" {
      driver = "docker"
      config {
        image           = "registry:2"
        ports           = ["http"]
        readonly_rootfs = true
        mount {
          type   = "bind"
          source = "local/config.yml"
          target = "/etc/docker/registry/config.yml"
        }
        mount {
          type   = "tmpfs"
          target = "/tmp"
          tmpfs_options {
            size = 16777216
            mode = 1023
          }
        }
      }
      volume_mount {
        volume      = "images"
        destination = "/var/lib/registry"
      }
      template {
        destination = "local/config.yml"
        perms       = "644"
        data        = <<-EOT
          version: 0.1
          http:
            addr: :5000
          storage:
            filesystem:
              rootdirectory: /var/lib/registry
        EOT
      }
    }
  }
}
