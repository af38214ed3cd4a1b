#!/bin/sh
# Builds the deb, the rpm, the tarball and the container image of the given architectures
# (GOARCH), and their checksums. The same commit makes the same bytes.
# Usage: packages.sh OUT ARCH...
set -eu
out=$1
shift
version=$(./tools/version.sh)
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}
export SOURCE_DATE_EPOCH
umask 022
rm -rf "$out"
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for arch; do
	echo "building packages of $version for $arch in $out"
	binary=$work/reeve-$arch
	CGO_ENABLED=0 GOOS=linux GOARCH=$arch go build -trimpath \
		-ldflags "-s -w -X github.com/reeve-run/reeve/internal/cli.linked=$version" -o "$binary" ./cmd/reeve
	go run ./internal/pack -version "$version" -arch "$arch" -binary "$binary" -time "$SOURCE_DATE_EPOCH" -out "$out"
	export PACKAGE_VERSION=$version PACKAGE_ARCH=$arch PACKAGE_BINARY=$binary
	for kind in deb rpm; do
		go tool -modfile=tools/go.mod nfpm package -f packaging/nfpm.yaml -p $kind -t "$out/"
	done
done
(cd "$out" && sha256sum -- *) >"$work/SHA256SUMS"
cp "$work/SHA256SUMS" "$out/SHA256SUMS"
