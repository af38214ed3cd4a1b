# A dynamic volume that an instance keeps.
# accept: yes

job "volume-sticky" {
  datacenters = ["dc1"]

  group "volume" {
    volume "data" {
      type            = "host"
      source          = "ledger"
      sticky          = true
      access_mode     = "single-node-writer"
      attachment_mode = "file-system"
    }

    task "sticky" {
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
