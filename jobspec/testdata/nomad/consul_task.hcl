# A cluster of Consul for one task.
# accept: refused
# needs: consul
# error: group "consul": task "task": the consul block is not supported: Reeve does not use Consul; remove it: services are in Reeve's own catalog

job "consul-task" {
  datacenters = ["dc1"]

  group "consul" {
    task "task" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
      consul {
        cluster   = "edge"
        partition = "shop"
      }
    }
  }
}
