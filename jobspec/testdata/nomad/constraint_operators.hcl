# The operators of constraints.
# accept: yes

job "constraint-operators" {
  datacenters = ["dc1"]
  constraint {
    attribute = "${attr.kernel.name}"
    value     = "linux"
  }
  constraint {
    attribute = "${attr.os.version}"
    operator  = "semver"
    value     = ">= 11.0.0"
  }

  group "constraint" {
    constraint {
      attribute = "${attr.cpu.arch}"
      operator  = "regexp"
      value     = "amd64|arm64"
    }
    constraint {
      attribute = "${meta.retired}"
      operator  = "is_not_set"
    }

    task "operators" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      constraint {
        attribute = "${attr.kernel.version}"
        operator  = "version"
        value     = ">= 5.10"
      }
      constraint {
        attribute = "${meta.zones}"
        operator  = "set_contains"
        value     = "a,b"
      }
    }
  }
}
