# An old file with a bandwidth, which has no effect.
# accept: yes
# warns: group "network", network: mbits has no effect; choose the address with host_network of a port

job "network-mbits" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mbits = 100
      port "http" {}
    }

    task "mbits" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
