#!/bin/sh
# Makes everything in the tree that is made from something else. Tests check
# that what is committed is what this makes.
set -eu
./tools/need.sh protoc protobuf-compiler
go generate ./...
