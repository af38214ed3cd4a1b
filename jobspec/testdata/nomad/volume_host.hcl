# A directory that the node offers by name.
# accept: yes

job "volume-host" {
  datacenters = ["dc1"]

  group "volume" {
    volume "data" {
      type      = "host"
      source    = "store"
      read_only = false
    }

    task "host" {
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
