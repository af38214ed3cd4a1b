# A database on a volume of a CSI plugin.
# accept: refused
# needs: csi
# error: group "db": the volume block "data" of type "csi" is not supported: Reeve has no CSI plugins; remove it, and use a volume of type "host", or the ephemeral_disk with sticky = true

job "mysql-csi" {
  group "db" {
    volume "data" {
      type            = "csi"
      source          = "mysql"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    task "mysql" {
      driver = "docker"
      config {
        image = "mysql:8.4"
      }
      volume_mount {
        volume      = "data"
        destination = "/var/lib/mysql"
      }
    }
  }
}
