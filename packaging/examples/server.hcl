# Every other server. Put the join token of servers into /etc/reeve/reeve.env:
#
#   REEVE_JOIN_TOKEN=reeve-server-1-...
#
# "reeve cluster token show server" on a server prints it. Run three or five servers.

data_dir       = "/var/lib/reeve"
datacenter     = "dc1"
bind_addr      = "0.0.0.0"
# advertise_addr = "10.0.0.2"   # default: the address of this machine

server {
  enabled = true

  server_join {
    retry_join = ["10.0.0.1"]   # any servers of the cluster
  }
}
