#!/bin/sh
# Runs after installation (deb: "configure", rpm: 1) and upgrade (deb: "configure OLD", rpm: 2).
# An upgrade restarts a running agent. Its tasks continue: see KillMode in reeve.service.
set -e
[ -d /run/systemd/system ] || exit 0
systemctl daemon-reload
if [ "$1" = configure ] && [ -n "$2" ] || [ "$1" = 2 ]; then
	systemctl try-restart reeve.service
fi
