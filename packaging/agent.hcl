# The agent of this machine. All settings: docs/agent-config.md of Reeve.
#
# Replace this file with one of the examples in /usr/share/reeve/examples, and fill in the
# addresses:
#
#   first-server.hcl   the machine that founds the cluster
#   server.hcl         every other server
#   node.hcl           a machine that runs tasks
#
# Then start the agent:  systemctl enable --now reeve

data_dir = "/var/lib/reeve"
