// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package allocset is the compact encoding of a set of allocations: names, jobs,
// resources, metrics and tasks that allocations share are written once. Log entries
// and snapshots (internal/state/wire) contain such sets, and so do the messages
// between servers and nodes (internal/nodeproto). The schema is the upgrade
// contract of both: see allocset.proto.
//
// To regenerate after a change of the schema, with protoc 3.21 (Debian:
// protobuf-compiler) in the PATH:
//
//	go generate ./internal/allocset
package allocset

//go:generate ../../tools/protobuf.sh allocset allocset.proto
