#!/bin/sh
# Prints the version of the source tree: the tag of the commit without its "v", or the number
# and the hash of the commit after the next release. Later commits of main sort after earlier
# ones. A tree with changes has the suffix ".dirty".
set -eu
next=0.1.0
if tag=$(git describe --tags --exact-match --match 'v[0-9]*' 2>/dev/null); then
	version=${tag#v}
elif count=$(git rev-list --count HEAD 2>/dev/null); then
	version=$next-dev.$count.g$(git rev-parse --short=12 HEAD)
else
	version=$next-dev # a source archive without history
fi
if [ -n "$(git status --porcelain --untracked-files=no 2>/dev/null)" ]; then
	version=$version.dirty
fi
echo "$version"
