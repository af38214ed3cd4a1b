# A volume of a storage system, by CSI.
# accept: refused
# needs: csi
# error: group "volume": the volume block "data" of type "csi" is not supported: Reeve has no CSI plugins; remove it, and use a volume of type "host", or the ephemeral_disk with sticky = true

job "volume-csi" {
  datacenters = ["dc1"]

  group "volume" {
    volume "data" {
      type            = "csi"
      source          = "store-vol"
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
      mount_options {
        fs_type     = "ext4"
        mount_flags = ["noatime"]
      }
    }

    task "csi" {
      driver = "exec"

      config {
        command = "/usr/local/bin/store"
        args    = ["--dir", "/data"]
      }
      volume_mount {
        volume      = "data"
        destination = "/data"
      }
    }
  }
}
