// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package wire is the schema of log entries, snapshot frames and what nodes and
// servers tell each other, the code generated from it, and how allocations are
// written in it and read. The schema is the upgrade contract: see state.proto
// and node.proto. Who holds, sends or stores what is encoded is not known here.
//
// To regenerate after a change of the schema, with protoc 3.21 (Debian:
// protobuf-compiler) in the PATH:
//
//	go generate ./internal/state/wire
//
// The plugins are built from the versions in go.mod. A test compares the
// generated files with the schema that they were made from.
package wire

//go:generate ./generate.sh
