#!/bin/sh
# Copyright The Reeve Authors
# SPDX-License-Identifier: Apache-2.0

# walk.sh shows the life of a stack in less than a minute: deployment, shift, deprecation, expiry,
# rescue. It starts an agent that it ends again, or uses the one of REEVE_ADDR.
set -eu
dir=$(dirname "$0")
reeve=${REEVE:-reeve}

say() { printf '\n# %s\n' "$*"; }
run() {
	printf '$ reeve'
	printf ' %s' "$@"
	printf '\n'
	"$reeve" "$@"
}
if [ -z "${REEVE_ADDR:-}" ]; then
	log=$(mktemp)
	"$reeve" agent -dev -log-level warn >"$log" 2>&1 &
	agent=$!
	trap 'kill $agent; wait $agent || true; rm -f "$log"' EXIT
	tries=0
	until "$reeve" node status 2>/dev/null | grep -q ready; do
		tries=$((tries + 1))
		if [ $tries -gt 100 ] || ! kill -0 $agent 2>/dev/null; then
			echo "the agent did not start:" >&2
			cat "$log" >&2
			exit 1
		fi
		sleep 0.2
	done
fi

say "A unit cannot be deployed without its dependency."
run stack deploy "$dir/shop.hcl" && exit 1

say "Both together can."
run stack deploy "$dir/shop.hcl" "$dir/inventory.hcl"

say "The next version runs beside the first. Its shift takes 30 seconds; an operator finishes it."
run stack deploy -until ready -var version=1.1.0 "$dir/inventory.hcl"
run stack shift inventory set 25%
run unit status inventory
run stack shift inventory finish

say "Nothing new may depend on a deprecated version."
run unit deprecate -reason "schema 3" inventory 1.1
run stack plan -var version=2.5.0 "$dir/shop.hcl" && exit 1
run unit undeprecate inventory 1.1

say "Nothing calls version 1.0.0. Its time ends, and the sweep makes it garbage."
run stack expire inventory@1.0.0
run stack sweep
run stack list

say "Its instances still run, so an operator can rescue it."
run stack rescue -for 48h inventory@1.0.0
run stack why inventory@1.0.0

say "Stop all of it."
for stack in shop@2.4.0 inventory@1.1.0 inventory@1.0.0; do
	run stack stop -now "$stack"
done
