#!/bin/sh
# Makes everything in the tree that is made from something else. Tests check
# that what is committed is what this makes.
set -eu
if ! command -v protoc >/dev/null; then
	echo "installing protobuf-compiler with apt-get"
	apt-get update -qq && apt-get install -y -qq protobuf-compiler
fi
go generate ./...
