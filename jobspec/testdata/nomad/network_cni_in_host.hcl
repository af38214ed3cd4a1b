# Arguments for plugins in the network of the node, which has none.
# accept: refused
# needs: cni
# error: group "network": network: the cni block is not supported: only plugins read it; remove it, or set mode = "cni/NAME" in the group's network

job "network-cni-in-host" {
  group "network" {
    network {
      mode = "host"
      cni {
        args = {
          "IP" = "192.0.2.7"
        }
      }
    }

    task "cni" {
      driver = "exec"

      config {
        command = "/usr/local/bin/api"
      }
    }
  }
}
