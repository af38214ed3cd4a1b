# Instances on different nodes, and few in each rack.
# accept: yes
# ends: waits: distinct_hosts

job "constraint-distinct-hosts" {
  datacenters = ["dc1"]

  group "constraint" {
    count = 4
    constraint {
      operator = "distinct_hosts"
      value    = "true"
    }
    constraint {
      operator  = "distinct_property"
      attribute = "${meta.rack}"
      value     = "2"
    }

    task "hosts" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
