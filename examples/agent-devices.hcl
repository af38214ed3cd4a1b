# An agent's configuration that declares devices and names networks of the
# machine, for examples/devices.hcl and examples/host-network.hcl:
#
#     reeve agent -dev -config examples/agent-devices.hcl
#
# Reeve hands out what is declared here, each id to one allocation at a time. It
# does not talk to the devices. The first ones are places in a licence server's
# pool: a device may be anything that a machine has so many of. The others have
# device nodes, which their holders may open.
client {
  device "acme/licence/render" {
    ids = ["seat-1", "seat-2"]
    attributes = {
      version = "7.2"
      memory  = "8 GiB"
    }
  }

  device "acme/sink/basic" {
    ids = ["sink-1"]
    node "sink-1" {
      path           = "/dev/null"
      container_path = "/dev/acme/sink"
      permissions    = "rw"
    }
  }

  host_network "local" {
    cidr           = "127.0.0.0/8"
    reserved_ports = "22"
  }
}
