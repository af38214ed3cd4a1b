# A namespace of Consul.
# accept: refused
# needs: consul
# error: group "consul": the consul block is not supported: Reeve does not use Consul; remove it: services are in Reeve's own catalog

job "consul-group" {
  datacenters = ["dc1"]

  group "consul" {
    consul {
      namespace = "shop"
    }

    task "group" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
