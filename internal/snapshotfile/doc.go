// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshotfile reads and writes files with a copy of the servers' state: what
// operators save, keep elsewhere and restore. Readers verify everything that they return.
//
// # Format
//
// A file is a tar archive, compressed with gzip, of three files in this order:
//
//	meta.json   api.Snapshot
//	state.bin   the state; see internal/state
//	SHA256SUMS  of both, as sha256sum writes and checks it
//
// Secrets of a cluster are encrypted in its state, and the file does not contain the keys.
package snapshotfile
