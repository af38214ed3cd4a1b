// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"encoding/binary"
	"fmt"
	"path/filepath"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// segment is one file of the log.
type segment struct {
	file    disk.File
	first   uint64  // index of its first entry
	offsets []int64 // of its entries
	end     int64   // where the next record goes
	unclean bool    // a failed append may have left something after end
}

func (s *segment) last() uint64 { return s.first + uint64(len(s.offsets)) - 1 }

func segmentName(first uint64) string { return fmt.Sprintf("%020d.log", first) }

// createSegment creates an empty segment and allocates its size, so that a full disk
// fails here and not in the middle of an append.
func createSegment(fs disk.FS, dir string, first uint64, size int64) (_ *segment, err error) {
	path := filepath.Join(dir, segmentName(first))
	f, err := fs.Create(path)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
			_ = fs.Remove(path)
		}
	}()
	if err := f.Allocate(size); err != nil {
		return nil, err
	}
	if _, err := f.WriteAt(appendHeader(nil, first), 0); err != nil {
		return nil, err
	}
	if err := f.Sync(); err != nil {
		return nil, &disk.SyncError{Path: path, Err: err}
	}
	if err := syncDir(fs, dir); err != nil {
		return nil, err
	}
	return &segment{file: f, first: first, end: headerSize}, nil
}

// openSegment checks all records of a segment. Only the last segment of a log may end in a torn
// append.
func openSegment(fs disk.FS, path string, first uint64, isLast bool) (*segment, error) {
	f, err := fs.Open(path)
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
	w, err := newWindow(s.file)
	if err != nil {
		return err
	}
	defer w.release()
	header, err := w.view(0, headerSize)
	if err != nil {
		return err
	}
	last := int64(headerSize) // where the last batch begins
	batch := uint64(0)
	if err := checkHeader(header, s.first); err != nil {
		switch zero, failure := w.isZeroFrom(headerSize); {
		case failure != nil:
			return failure
		case isLast && zero:
			return errTornCreate
		}
		return &DamageError{File: s.file.Name(), Index: s.first, Problem: err.Error()}
	}
	for {
		record, err := w.record(s.end)
		if err != nil {
			return err
		}
		index, of, size, ok := checkRecord(record)
		if !ok {
			break
		}
		if want := s.first + uint64(len(s.offsets)); index != want {
			return &DamageError{File: s.file.Name(), Offset: s.end, Index: want, Problem: fmt.Sprintf("entry %d is where entry %d should be", index, want)}
		}
		if of != batch {
			last, batch = s.end, of
		}
		s.offsets = append(s.offsets, s.end)
		s.end += int64(size)
	}
	zero, err := w.isZeroFrom(s.end)
	if err != nil {
		return err
	}
	if s.unclean = !zero; s.unclean {
		next := s.first + uint64(len(s.offsets))
		rest, err := w.view(s.end, int(w.size-s.end))
		if err != nil {
			return err
		}
		if followed(rest, next) {
			return &DamageError{File: s.file.Name(), Offset: s.end, Index: next, Problem: "its checksum is wrong, and entries written after it are whole"}
		}
	}
	if !isLast {
		return nil
	}
	written, err := w.view(last, int(s.end-last))
	if err != nil {
		return err
	}
	return s.settle(written[:s.end-last], last)
}

// settle ensures that the entries that were read are on the disk. If a process was killed
// before its sync, or ended because the sync failed, the entries of the last batch may be
// only in the page cache, and still be readable. settle writes that batch again, because
// a sync does not retry pages that an earlier sync failed to write.
func (s *segment) settle(batch []byte, last int64) error {
	if len(batch) > 0 {
		if _, err := s.file.WriteAt(batch, last); err != nil {
			return err
		}
	}
	if err := s.file.Sync(); err != nil {
		return &disk.SyncError{Path: s.file.Name(), Err: err}
	}
	return nil
}

// followed reports whether b contains a complete record of a later batch than that of
// entry next.
func followed(b []byte, next uint64) bool {
	for len(b) >= prefixSize+fixedSize {
		// Check the index first: a checksum at every offset would be slow.
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

// append writes a batch of encoded records and waits until they are on the disk. If it
// fails, nothing was appended.
func (s *segment) append(records []byte, size int64, watch Watch) error {
	if s.unclean {
		if err := s.clean(size); err != nil {
			return err
		}
	}
	s.unclean = true
	if _, err := s.file.WriteAt(records, s.end); err != nil {
		return err
	}
	began := watch.begin()
	if err := s.file.SyncData(); err != nil {
		return &disk.SyncError{Path: s.file.Name(), Err: err}
	}
	s.unclean = false
	s.end += int64(len(records))
	watch.synced(began)
	return nil
}

// clean removes the data after the last record.
func (s *segment) clean(size int64) error {
	if err := s.file.Truncate(s.end); err != nil {
		return err
	}
	if err := s.file.Allocate(max(size, s.end)); err != nil {
		return err
	}
	if err := s.file.Sync(); err != nil {
		return &disk.SyncError{Path: s.file.Name(), Err: err}
	}
	s.unclean = false
	return nil
}

// read reads the entry of an index in the segment.
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

func syncDir(fs disk.FS, dir string) error {
	if err := fs.SyncDir(dir); err != nil {
		return &disk.SyncError{Path: dir, Err: err}
	}
	return nil
}
