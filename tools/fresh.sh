#!/bin/sh
# Checks that what is made from something else is what would be made now. It
# compares the tree before and after, so that it also works with uncommitted
# changes.
set -eu
before=$(mktemp)
after=$(mktemp)
trap 'rm -f "$before" "$after"' EXIT
git diff >"$before"
./tools/generate.sh
git diff >"$after"
if ! cmp -s "$before" "$after"; then
	git diff --stat
	echo "generated files were out of date: they are up to date now, look at the difference and commit it" >&2
	exit 1
fi
