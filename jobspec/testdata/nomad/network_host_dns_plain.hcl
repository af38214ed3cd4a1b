# A resolver for a program of the node, which has the node's files.
# accept: refused
# needs: dns
# error: group "network": network: the dns block with driver "raw_exec" of task "plain" is not supported: its tasks have the node's resolver; remove the block, or use driver "exec"

job "network-host-dns-plain" {
  datacenters = ["dc1"]

  group "network" {
    network {
      dns {
        servers = ["10.0.0.2"]
      }
    }

    task "plain" {
      driver = "raw_exec"

      config {
        command = "/usr/local/bin/worker"
      }
    }
  }
}
