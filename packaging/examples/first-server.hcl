# The first server founds the cluster at its first start. Later, bootstrap has no effect.
# "reeve cluster token show" on this machine shows the join tokens of other machines.

data_dir       = "/var/lib/reeve"
datacenter     = "dc1"
bind_addr      = "0.0.0.0"
# advertise_addr = "10.0.0.1"   # default: the address of this machine

server {
  enabled   = true
  bootstrap = true
}

# A server that also runs tasks:
# client {
#   enabled = true
# }
