// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package wal stores the replicated log on disk: segments of checksummed records, with one
// write and one sync for each appended batch.
//
// Its guarantees: a successful append is on the disk. A failed append left no entry behind and
// may be retried, unless its sync failed: then all further writes are rejected. A damaged
// record is never returned, and is distinguished from a write that a crash interrupted. The
// package does not interpret entries. docs/design/log.md has the invariants and the fault
// model.
//
// # Format
//
// A segment is the file INDEX.log, INDEX being the first entry's, in twenty
// digits. It begins with a header of 32 bytes: the magic "REEVELOG", the format
// version, the first index, a CRC-32C. Records follow, each padded to eight
// bytes:
//
//	length  uint32  of what follows the checksum
//	crc     uint32  CRC-32C of what follows
//	index   uint64
//	batch   uint64  index of the first entry of the batch it was appended with
//	term    uint64
//	time    int64   Unix nanoseconds
//	type    uint8
//	ext     uint32  length of the extensions, which come before the data
//	extensions, data
//
// Segments are allocated ahead, so that a sync need not update the file's size;
// zeros follow the last record.
//
// # Torn or damaged
//
// A crash during an append leaves any part of one batch, and no data after it: the next batch
// does not start before the sync returns. So if no valid record of a later batch follows the
// position where reading stops, the log ends there, and the rest is overwritten. If one
// follows, the record was once complete: this is damage, and Open fails with the file and
// the offset. Damage of the very last batch looks like a torn append; the replica detects it
// by the recorded acknowledged index.
package wal
