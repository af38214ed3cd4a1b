#!/bin/sh
# Runs after removal. The data directory remains, also after a purge: it is the only copy of
# the identity of this machine, and on a server of the state of the cluster.
set -e
[ ! -d /run/systemd/system ] || systemctl daemon-reload
if [ "$1" = purge ] || [ "$1" = 0 ]; then
	[ ! -e /var/lib/reeve ] || echo "/var/lib/reeve still holds the data of this machine: delete it if no cluster needs it"
fi
