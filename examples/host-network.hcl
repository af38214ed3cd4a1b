# A port on one of a node's addresses only. It needs a node in that network:
#
#     reeve agent -dev -config examples/agent-devices.hcl
#     reeve job run examples/host-network.hcl
job "inside" {
  group "inside" {
    network {
      port "http" {
        host_network = "local"
      }
    }

    task "server" {
      driver = "raw_exec"

      config {
        command = "/bin/sh"
        args    = ["-c", "echo listening on $NOMAD_ADDR_http; exec sleep 3600"]
      }

      resources {
        cpu    = 50
        memory = 16
      }
    }
  }
}
