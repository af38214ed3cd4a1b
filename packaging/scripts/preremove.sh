#!/bin/sh
# Runs before removal (deb: "remove", rpm: 0), and before an upgrade, which changes nothing here.
# A removal stops the agent. Tasks continue until they end; drain the node first to stop them.
set -e
if [ "$1" = remove ] || [ "$1" = 0 ]; then
	[ -d /run/systemd/system ] || exit 0
	systemctl --no-reload disable --now reeve.service
fi
