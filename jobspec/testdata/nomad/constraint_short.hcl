# The short forms of constraints.
# accept: yes

job "constraint-short" {
  datacenters = ["dc1"]

  group "constraint" {
    constraint {
      distinct_hosts = true
    }
    constraint {
      attribute = "${attr.kernel.version}"
      version   = ">= 4.19"
    }
    constraint {
      attribute = "${node.class}"
      regexp    = "^compute"
    }

    task "short" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
