// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package wal keeps the replicated log on disk: segments of checksummed
// records, one write and one sync for each batch appended.
//
// What it promises: an append that returned is on the disk; one that failed
// left nothing behind and may be tried again, unless its sync failed: then
// nothing is written any more; a record that was damaged is never returned, and
// is told apart from a write that a crash cut short. It knows nothing of what
// the entries mean. docs/design/log.md has the invariants and the fault model.
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
// A crash in the middle of an append leaves any part of one batch, and nothing
// after it: the next batch was not begun before the sync returned. So if no
// valid record of a later batch follows the place where reading stops, the log
// ends there and what is left over is overwritten. If one does follow, the
// record was whole once: that is damage, and Open refuses, naming file and
// offset. Damage to the very last batch looks like a torn append; the replica
// recognizes it by the index that it noted as acknowledged.
package wal
