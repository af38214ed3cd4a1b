// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshots keeps snapshots of the state as directories. It knows
// nothing of what the state is.
//
// # Format
//
// A snapshot is the directory TERM-INDEX-MILLISECONDS with three files:
//
//	state.bin   the state, as it was written
//	meta.json   term, index, servers, size of state.bin and its CRC-64
//	SHA256SUMS  of both, as sha256sum writes and checks it
//
// Snapshots of earlier versions lack SHA256SUMS.
//
// # What is promised
//
// A snapshot is written in a directory NAME.tmp. Its files are synced, then that
// directory, then it gets its name, then the parent directory is synced: one
// that has its name is whole, whatever a crash cut short. Removing takes the
// name away first. What has no name is removed when the store is opened.
//
// The newest snapshot is the only one that counts. If it is damaged, the store
// says so instead of passing to an older one: the log may not reach back to it.
package snapshots
