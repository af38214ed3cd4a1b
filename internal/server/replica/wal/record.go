// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"time"

	"github.com/hashicorp/raft"
)

const (
	magic         = "REEVELOG"
	formatVersion = 1
	headerSize    = 32
	prefixSize    = 8                     // length and checksum
	fixedSize     = 8 + 8 + 8 + 8 + 1 + 4 // index, batch, term, time, type, length of extensions
	maxRecord     = 256 << 20
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// appendHeader appends a segment's header.
func appendHeader(b []byte, first uint64) []byte {
	start := len(b)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint32(b, formatVersion)
	b = binary.LittleEndian.AppendUint64(b, first)
	b = binary.LittleEndian.AppendUint32(b, crc32.Checksum(b[start:], castagnoli))
	return append(b, make([]byte, headerSize-(len(b)-start))...)
}

// checkHeader returns the error in a segment's header; nil if it is valid.
func checkHeader(b []byte, first uint64) error {
	const summed = len(magic) + 4 + 8
	switch {
	case len(b) < headerSize || string(b[:len(magic)]) != magic:
		return fmt.Errorf("it does not begin like a log segment")
	case crc32.Checksum(b[:summed], castagnoli) != binary.LittleEndian.Uint32(b[summed:]):
		return fmt.Errorf("its header is damaged")
	}
	if v := binary.LittleEndian.Uint32(b[len(magic):]); v != formatVersion {
		return fmt.Errorf("it has log format %d and this version of Reeve reads format %d: use the version that wrote it, or a newer one", v, formatVersion)
	}
	if got := binary.LittleEndian.Uint64(b[len(magic)+4:]); got != first {
		return fmt.Errorf("it begins with entry %d, not %d as its name says", got, first)
	}
	return nil
}

// appendRecord appends an entry, padded.
func appendRecord(b []byte, l *raft.Log, batch uint64) []byte {
	start := len(b)
	b = binary.LittleEndian.AppendUint32(b, uint32(fixedSize+len(l.Extensions)+len(l.Data)))
	b = append(b, 0, 0, 0, 0)
	b = binary.LittleEndian.AppendUint64(b, l.Index)
	b = binary.LittleEndian.AppendUint64(b, batch)
	b = binary.LittleEndian.AppendUint64(b, l.Term)
	var at int64
	if !l.AppendedAt.IsZero() {
		at = l.AppendedAt.UnixNano()
	}
	b = binary.LittleEndian.AppendUint64(b, uint64(at))
	b = append(b, byte(l.Type))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(l.Extensions)))
	b = append(b, l.Extensions...)
	b = append(b, l.Data...)
	binary.LittleEndian.PutUint32(b[start+4:], crc32.Checksum(b[start+prefixSize:], castagnoli))
	for (len(b)-start)%8 != 0 {
		b = append(b, 0)
	}
	return b
}

// recordSize returns the size in bytes of the record at the beginning of b; 0 if b is too
// short or the length is impossible.
func recordSize(b []byte) int {
	if len(b) < prefixSize+fixedSize {
		return 0
	}
	n := int(binary.LittleEndian.Uint32(b))
	if n < fixedSize || n > maxRecord {
		return 0
	}
	return (prefixSize + n + 7) &^ 7
}

// checkRecord reads the keys of the record at the beginning of b; ok reports whether the
// record is complete and its checksum matches.
func checkRecord(b []byte) (index, batch uint64, size int, ok bool) {
	size = recordSize(b)
	if size == 0 || size > len(b) {
		return 0, 0, 0, false
	}
	n := int(binary.LittleEndian.Uint32(b))
	if crc32.Checksum(b[prefixSize:prefixSize+n], castagnoli) != binary.LittleEndian.Uint32(b[4:]) {
		return 0, 0, 0, false
	}
	return binary.LittleEndian.Uint64(b[8:]), binary.LittleEndian.Uint64(b[16:]), size, true
}

// decodeRecord fills l from a record that checkRecord accepted. The entry refers to b.
func decodeRecord(b []byte, l *raft.Log) error {
	n := int(binary.LittleEndian.Uint32(b))
	body := b[prefixSize : prefixSize+n]
	ext := int(binary.LittleEndian.Uint32(body[33:]))
	if ext > n-fixedSize {
		return fmt.Errorf("impossible length of extensions")
	}
	*l = raft.Log{
		Index: binary.LittleEndian.Uint64(body),
		Term:  binary.LittleEndian.Uint64(body[16:]),
		Type:  raft.LogType(body[32]),
		Data:  body[fixedSize+ext:],
	}
	if ext > 0 {
		l.Extensions = body[fixedSize : fixedSize+ext]
	}
	if at := int64(binary.LittleEndian.Uint64(body[24:])); at != 0 {
		l.AppendedAt = time.Unix(0, at)
	}
	return nil
}
