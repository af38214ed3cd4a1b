# Storage that outlives allocations.
job "database" {
  group "postgres" {
    count = 1

    ephemeral_disk {
      sticky  = true
      migrate = true
      size    = 5000
    }

    volume "data" {
      type            = "csi"
      source          = "pg-data"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
      per_alloc       = true

      mount_options {
        fs_type     = "ext4"
        mount_flags = ["noatime"]
      }
    }

    volume "certs" {
      type      = "host"
      source    = "certs"
      read_only = true
      sticky    = true
    }

    task "postgres" {
      driver       = "docker"
      kill_timeout = "2m"

      volume_mount {
        volume           = "data"
        destination      = "/var/lib/postgresql/data"
        propagation_mode = "private"
      }

      volume_mount {
        volume        = "certs"
        destination   = "/etc/certs"
        read_only     = true
        selinux_label = "Z"
      }

      config {
        image = "postgres:17"
      }
    }
  }
}
