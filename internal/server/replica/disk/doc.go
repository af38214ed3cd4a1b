// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package disk is what the log and the snapshots need of a file system, so that
// tests can put a worse one in its place. It adds nothing: a method is one
// system call.
//
// What callers may rely on is what POSIX promises, and no more. Until Sync or
// SyncData of a file returns, any of its blocks may be on the disk or not. Until
// SyncDir of a directory returns, so may any creation, removal or renaming in
// it; syncing a file does not sync its name. After a sync that failed, nobody
// knows what is on the disk, and another one that succeeds says nothing about it.
package disk
