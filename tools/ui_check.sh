#!/bin/sh
# Checks the sources of the web UI: types, tests of pure code, the sizes of what a browser loads, and that
# internal/ui/dist is what they build.
set -eu
cd "$(dirname "$0")/../ui"
node tools/types.mjs --check
npx tsc --noEmit
npm run --silent unit
built=$(mktemp -d)
trap 'rm -rf "$built"' EXIT
npx vite build --logLevel error --outDir "$built" --emptyOutDir
DIST="$built" node tools/licences.mjs
node tools/sizes.mjs "$built"
if ! diff -rq "$built" ../internal/ui/dist; then
	echo "internal/ui/dist is not what ui/ builds: run \"make ui\", look at the pages, and commit it" >&2
	exit 1
fi
