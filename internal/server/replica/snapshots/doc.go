// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package snapshots stores snapshots of the state in directories. It does not interpret the
// state.
//
// # Format
//
// A snapshot is the directory TERM-INDEX-MILLISECONDS with three files:
//
//	 state.bin   the state, byte for byte
//		meta.json   term, index, servers, size of state.bin and its CRC-64
//		SHA256SUMS  of both, as sha256sum writes and checks it
//
// Snapshots of earlier versions lack SHA256SUMS.
//
// # Guarantees
//
// A snapshot is written in a directory NAME.tmp. Its files are synced, then that directory;
// then it gets its name, and the parent directory is synced. So a snapshot with a name is
// complete, even after a crash. A removal first removes the name. Open removes directories
// without a name.
//
// Only the newest snapshot counts. If it is damaged, the store reports that instead of using an
// older one: the log may not reach back to it.
package snapshots
