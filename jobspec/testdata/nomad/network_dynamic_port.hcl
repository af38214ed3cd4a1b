# A free port of the node.
# accept: yes

job "network-dynamic-port" {
  datacenters = ["dc1"]

  group "network" {
    network {
      port "http" {}
    }

    task "port" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
