# Half in one datacenter, the rest spread evenly over racks, ideally on SSDs.
job "cache" {
  spread {
    attribute = "${node.datacenter}"
    weight    = 80

    target "dc1" {
      percent = 50
    }
    target "dc2" {
      percent = 30
    }
    target "dc3" {
      percent = 20
    }
  }

  affinity {
    attribute = "${meta.disk}"
    value     = "ssd"
    weight    = 70
  }

  group "redis" {
    count = 10

    spread {
      attribute = "${meta.rack}"
    }

    affinity {
      attribute = "${attr.cpu.arch}"
      operator  = "!="
      value     = "arm64"
      weight    = -20
    }

    affinity {
      attribute = "${attr.kernel.version}"
      version   = ">= 6.1"
    }

    task "redis" {
      driver = "docker"
      config {
        image = "redis:7"
      }
    }
  }
}
