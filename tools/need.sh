#!/bin/sh
# Installs a command or a file with apt-get if it is missing, and says so.
# Usage: need.sh COMMAND PACKAGE [OPTION OF APT-GET]
set -eu
case $1 in
/*) test ! -e "$1" || exit 0 ;;
*) ! command -v "$1" >/dev/null || exit 0 ;;
esac
echo "installing $2 with apt-get: it provides $1"
apt-get update -qq
DEBIAN_FRONTEND=noninteractive apt-get install -y -qq ${3:-} "$2"
