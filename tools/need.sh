#!/bin/sh
# Installs a command with apt-get if it is missing, and says so.
# Usage: need.sh COMMAND PACKAGE
set -eu
if command -v "$1" >/dev/null; then
	exit 0
fi
echo "installing $2 with apt-get: it provides $1"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "$2"
