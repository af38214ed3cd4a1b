// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/hashicorp/raft"
	"golang.org/x/sys/unix"
)

// segment is one file of the log.
type segment struct {
	file    *os.File
	first   uint64  // index of its first entry
	offsets []int64 // of its entries
	end     int64   // where the next record goes
	unclean bool    // a failed append may have left something after end
}

func (s *segment) last() uint64 { return s.first + uint64(len(s.offsets)) - 1 }

func segmentName(first uint64) string { return fmt.Sprintf("%020d.log", first) }

// createSegment makes an empty segment of a size that is allocated now, so
// that a full disk shows here and not in the middle of an append.
func createSegment(dir string, first uint64, size int64) (_ *segment, err error) {
	path := filepath.Join(dir, segmentName(first))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
			os.Remove(path)
		}
	}()
	if err := allocate(f, size); err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(appendHeader(nil, first), 0); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, fmt.Errorf("sync %s: %w", path, err)
	}
	if err := syncDir(dir); err != nil {
		return nil, err
	}
	return &segment{file: f, first: first, end: headerSize}, nil
}

// allocate reserves the file's blocks where the file system can.
func allocate(f *os.File, size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if err == nil || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return &os.PathError{Op: "allocate", Path: f.Name(), Err: err}
}

// openSegment reads a segment through. Only the last one of a log may end in a
// torn append.
func openSegment(path string, first uint64, isLast bool) (*segment, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	s := &segment{file: f, first: first, end: headerSize}
	if err := s.scan(isLast); err != nil {
		f.Close()
		return nil, err
	}
	return s, nil
}

func (s *segment) scan(isLast bool) error {
	data, err := io.ReadAll(io.NewSectionReader(s.file, 0, 1<<40))
	if err != nil {
		return fmt.Errorf("read %s: %w", s.file.Name(), err)
	}
	if err := checkHeader(data, s.first); err != nil {
		if isLast && isZero(data) {
			return errTornCreate
		}
		return &DamageError{File: s.file.Name(), Index: s.first, Problem: err.Error()}
	}
	for {
		index, _, size, ok := checkRecord(data[s.end:])
		if !ok {
			break
		}
		if want := s.first + uint64(len(s.offsets)); index != want {
			return &DamageError{File: s.file.Name(), Offset: s.end, Index: want, Problem: fmt.Sprintf("entry %d is where entry %d should be", index, want)}
		}
		s.offsets = append(s.offsets, s.end)
		s.end += int64(size)
	}
	rest, next := data[s.end:], s.first+uint64(len(s.offsets))
	s.unclean = !isZero(rest)
	if s.unclean && followed(rest, next) {
		return &DamageError{File: s.file.Name(), Offset: s.end, Index: next, Problem: "its checksum is wrong, and entries written after it are whole"}
	}
	return nil
}

// followed reports whether a whole record of a later batch than the one that
// entry next was in comes somewhere in b.
func followed(b []byte, next uint64) bool {
	for len(b) >= prefixSize+fixedSize {
		// A look at the index first: checksums of every offset would take long.
		if index := binary.LittleEndian.Uint64(b[8:]); index > next && index-next < 1<<32 {
			if _, batch, _, ok := checkRecord(b); ok && batch > next {
				return true
			}
		}
		b = b[8:]
	}
	return false
}

func isZero(b []byte) bool {
	for len(b) >= 8 {
		if binary.LittleEndian.Uint64(b) != 0 {
			return false
		}
		b = b[8:]
	}
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// append writes records that were encoded together and waits until they are on
// the disk. If it fails, nothing was appended.
func (s *segment) append(records []byte, offsets []int64, size int64) error {
	if s.unclean {
		if err := s.clean(size); err != nil {
			return err
		}
	}
	s.unclean = true
	if _, err := s.file.WriteAt(records, s.end); err != nil {
		return err
	}
	if err := unix.Fdatasync(int(s.file.Fd())); err != nil {
		return fmt.Errorf("sync %s: %w", s.file.Name(), err)
	}
	s.unclean = false
	s.offsets = append(s.offsets, offsets...)
	s.end += int64(len(records))
	return nil
}

// clean removes what follows the last record.
func (s *segment) clean(size int64) error {
	if err := s.file.Truncate(s.end); err != nil {
		return err
	}
	if err := allocate(s.file, max(size, s.end)); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", s.file.Name(), err)
	}
	s.unclean = false
	return nil
}

// read returns the entry of an index that the segment holds.
func (s *segment) read(index uint64, l *raft.Log) error {
	i := index - s.first
	offset, end := s.offsets[i], s.end
	if i+1 < uint64(len(s.offsets)) {
		end = s.offsets[i+1]
	}
	b := make([]byte, end-offset)
	if _, err := s.file.ReadAt(b, offset); err != nil {
		return fmt.Errorf("read log entry %d: %w", index, err)
	}
	got, _, _, ok := checkRecord(b)
	if ok && got == index {
		if err := decodeRecord(b, l); err == nil {
			return nil
		}
	}
	return &DamageError{File: s.file.Name(), Offset: offset, Index: index, Problem: "its checksum is wrong"}
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	defer d.Close()
	if err := d.Sync(); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}
