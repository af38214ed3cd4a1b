// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire is the schema of log entries and snapshot frames, and the code
// generated from it. The schema is the upgrade contract: see state.proto. Package
// state reads and writes the messages; package allocset encodes the allocations in
// them.
//
// To regenerate after a change of the schema, with protoc 3.21 (Debian:
// protobuf-compiler) in the PATH:
//
//	go generate ./internal/state/wire
//
// The plugins are built from the versions in go.mod. A test compares the
// generated files with the schema that they were made from.
package wire

//go:generate ../../../tools/protobuf.sh wire state.proto ../../allocset
