# A network that a CNI configuration describes.
# accept: yes
# ends: waits: the node has no CNI network shop

job "network-cni" {
  datacenters = ["dc1"]

  group "network" {
    network {
      mode = "cni/shop"
      port "http" {
        to = 8080
      }
      cni {
        args = {
          "bandwidth" = "10m"
        }
      }
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
