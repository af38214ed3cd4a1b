// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package disk is the interface of the log and the snapshots to the file system, so that tests
// can replace the file system by a worse one. It adds nothing: a method is one system call.
//
// Callers may rely only on the guarantees of POSIX. Until Sync or SyncData of a file returns,
// each of its blocks may or may not be on the disk. Until SyncDir of a directory returns, so
// may each creation, removal or renaming in it; syncing a file does not sync its name. After
// a failed sync, the content of the disk is unknown, and a later successful sync proves
// nothing about it.
package disk
