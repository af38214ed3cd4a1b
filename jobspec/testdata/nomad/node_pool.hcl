# Nodes of a pool.
# accept: yes

job "node-pool" {
  datacenters = ["dc1"]
  node_pool   = "all"

  group "node" {
    task "pool" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
