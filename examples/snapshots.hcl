# Saves a snapshot of the servers' state every hour, and keeps the last 24:
#
#   reeve agent -dev -config examples/snapshots.hcl
#
# Each server saves its own state. If all servers share the directory, add servers = "leader".

server {
  enabled = true

  snapshots {
    interval  = "1h"
    retain    = 24
    directory = "/var/backups/reeve" # default: DATA_DIR/snapshots
  }
}
