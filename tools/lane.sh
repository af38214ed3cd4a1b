#!/bin/sh
# Runs the tests of a lane, and prints their time beside the lane's budget. Machines
# differ, so a lane that takes longer than its budget gets a warning; with STRICT=1 it
# fails.
# Usage: lane.sh NAME SECONDS COMMAND ARG...
set -eu
name=$1 budget=$2
shift 2
begun=$(date +%s)
status=0
"$@" || status=$?
took=$(($(date +%s) - begun))
echo "$name: $took s of $budget s"
if [ "$took" -gt "$budget" ]; then
	echo "$name: exceeds its budget by $((took - budget)) s; \"go test -json\" tells which tests are slow" >&2
	[ "${STRICT:-}" != 1 ] || exit 1
fi
exit "$status"
