# A port on one of the networks of the node.
# accept: yes

job "network-host-network" {
  datacenters = ["dc1"]

  group "network" {
    network {
      port "http" {
        static       = 8443
        host_network = "public"
      }
      port "admin" {
        host_network = "private"
      }
    }

    task "network" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
