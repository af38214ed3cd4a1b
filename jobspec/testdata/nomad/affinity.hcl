# Preferred nodes, and nodes to avoid.
# accept: yes

job "affinity" {
  datacenters = ["dc1"]

  group "affinity" {
    affinity {
      attribute = "${node.datacenter}"
      operator  = "!="
      value     = "dc2"
      weight    = -30
    }

    task "affinity" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      affinity {
        attribute = "${meta.ssd}"
        value     = "true"
        weight    = 80
      }
    }
  }
}
