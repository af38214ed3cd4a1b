// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package state is the store: it holds Reeve's entire state in memory, with the commands
// that change it.
//
// The store has one writer, Apply, which receives the entries of the replicated log in
// order. Applying is deterministic, so servers that applied the same entries have equal
// states. Readers take a Snapshot, which costs nothing, never waits for the writer and
// never changes. Every entry yields the list of its changes. That list is the event
// stream, wakes blocking queries and feeds the controllers.
//
// The package does no I/O, reads no clock and makes no random choices: times and
// identifiers are part of the commands. All readers share the stored objects and must not
// modify them: copy first.
package state
