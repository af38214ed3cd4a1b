# Where instances run: half of them in datacenter dc1 if there are others, evenly
# over racks, on nodes with an SSD rather than on others, and never on a machine
# that is not Linux. On one machine all of it comes to the same place.
#
#     reeve job run examples/spread.hcl
#     reeve job status spread
#     reeve job explain spread
job "spread" {
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }

  group "web" {
    count = 4

    spread {
      attribute = "${node.datacenter}"
      weight    = 100
      target "dc1" {
        percent = 50
      }
    }

    spread {
      attribute = "${meta.rack}"
      weight    = 50
    }

    affinity {
      attribute = "${meta.disk}"
      value     = "ssd"
      weight    = 75
    }

    affinity {
      attribute = "${meta.noisy}"
      operator  = "is_set"
      weight    = -50
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sleep"
        args    = ["3600"]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
