# A CNI network with the arguments block, a fixed port, and values of the instance.
# accept: yes
# ends: waits: the node has no CNI network mynet

job "network-cni-args" {
  datacenters = ["dc1"]

  group "network" {
    count = 2

    network {
      mode = "cni/mynet"
      port "http" {
        static = 8088
        to     = 8080
      }
      cni {
        args = {
          "IP"     = "192.0.2.${NOMAD_ALLOC_INDEX}"
          "region" = "eu"
        }
      }
      dns {
        servers = ["192.0.2.53"]
      }
    }

    service {
      name         = "api"
      port         = "http"
      provider     = "nomad"
      address_mode = "alloc"
    }

    task "cni" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
        args    = ["-listen", ":${NOMAD_PORT_http}"]
      }
    }
  }
}
