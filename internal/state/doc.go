// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package state is the store: everything that Reeve remembers, in memory, with
// the commands that change it.
//
// There is one writer, Apply, which is handed the entries of the replicated
// log in order; applying is deterministic, so servers that applied the same
// entries are equal. Readers take a Snapshot, which costs nothing, never waits
// for the writer and never changes. Every entry yields the list of what it
// changed: that list is the event stream, wakes blocking queries and feeds the
// controllers.
//
// The package does no I/O, reads no clock and makes no random choices: times
// and identifiers are in the commands. Stored objects are shared by all
// readers and must not be changed: copy first.
package state
