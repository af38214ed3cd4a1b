# A volume of its own for each instance.
# accept: yes

job "store-numbered" {
  datacenters = ["dc1"]

  group "store" {
    count = 3
    volume "data" {
      type      = "host"
      source    = "store"
      per_alloc = true
    }

    task "numbered" {
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
