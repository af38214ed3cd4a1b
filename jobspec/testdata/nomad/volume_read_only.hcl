# A volume that the task cannot change.
# accept: yes

job "volume-read-only" {
  datacenters = ["dc1"]

  group "volume" {
    volume "data" {
      type      = "host"
      source    = "reference"
      read_only = true
    }

    task "only" {
      driver = "exec"

      config {
        command = "/usr/local/bin/store"
        args    = ["--dir", "/data"]
      }
      volume_mount {
        volume           = "data"
        destination      = "/data"
        read_only        = true
        propagation_mode = "host-to-task"
      }
    }
  }
}
