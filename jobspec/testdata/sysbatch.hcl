# A script run once on every node of a rack.
job "patch" {
  type = "sysbatch"

  group "patch" {
    constraint {
      attribute = "${meta.rack}"
      regexp    = "^r[0-9]+$"
    }

    constraint {
      is_set = "${attr.os.name}"
    }

    task "apt" {
      driver = "raw_exec"
      config {
        command = "/usr/bin/apt-get"
        args    = ["-y", "dist-upgrade"]
      }
      env {
        DEBIAN_FRONTEND = "noninteractive"
      }
    }
  }
}
