# A machine that runs tasks. Put the join token of nodes into /etc/reeve/reeve.env:
#
#   REEVE_JOIN_TOKEN=reeve-node-1-...
#
# "reeve cluster token show node" on a server prints it.

data_dir       = "/var/lib/reeve"
datacenter     = "dc1"
bind_addr      = "0.0.0.0"
# advertise_addr = "10.0.0.9"   # default: the address of this machine

client {
  enabled = true

  server_join {
    retry_join = ["10.0.0.1", "10.0.0.2", "10.0.0.3"]   # any servers of the cluster
  }

  # Resources that tasks cannot use:
  # reserved {
  #   cpu    = 500   # MHz
  #   memory = 512   # MB
  # }
}
