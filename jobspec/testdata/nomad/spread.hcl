# Instances across data centers and racks.
# accept: yes

job "spread" {
  datacenters = ["dc1"]

  group "spread" {
    count = 10
    spread {
      attribute = "${node.datacenter}"
      weight    = 80
      target "dc1" {
        percent = 70
      }
      target "dc2" {
        percent = 30
      }
    }
    spread {
      attribute = "${meta.rack}"
    }

    task "spread" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
