# Every way to say where something may run.
job "picky" {
  constraint {
    distinct_hosts = true
  }

  constraint {
    distinct_property = "${meta.rack}"
    value             = "2"
  }

  constraint {
    attribute = "${attr.kernel.version}"
    version   = ">= 5.10, < 7"
  }

  constraint {
    attribute = "${attr.reeve.version}"
    semver    = ">= 0.1.0"
  }

  constraint {
    attribute    = "${meta.features}"
    set_contains = "ssd,gpu"
  }

  constraint {
    attribute        = "${meta.features}"
    set_contains_any = "nvme,ssd"
  }

  constraint {
    attribute        = "${meta.features}"
    set_contains_all = "ssd"
  }

  constraint {
    attribute = "${attr.cpu.numcores}"
    operator  = ">="
    value     = 4
  }

  constraint {
    attribute = "${node.unique.name}"
    operator  = "regexp"
    value     = "^worker-[0-9]{2}$"
  }

  constraint {
    attribute = "${meta.retired}"
    operator  = "is_not_set"
  }

  group "picky" {
    constraint {
      attribute = "${node.datacenter}"
      value     = "dc1"
    }

    task "picky" {
      driver = "raw_exec"

      constraint {
        attribute = "${attr.driver.raw_exec}"
        value     = "1"
      }

      config {
        command = "/bin/true"
      }
    }
  }
}
