// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/hashicorp/raft"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// Log does not implement raft.MonotonicLogStore: after raft installs a snapshot, it
// empties such a store, including acknowledged entries after the snapshot, and later
// fails to find entries that it expects. See Rebase.
var _ raft.LogStore = (*Log)(nil)

// retryPause is the duration of a failed append. It limits the retries on a full or
// failing disk.
const retryPause = 200 * time.Millisecond

// Log is a raft.LogStore. Reads may run concurrently with one append.
type Log struct {
	fs    disk.FS
	dir   string
	size  int64 // of a segment
	watch Watch

	writing sync.Mutex // one append or deletion at a time; held across the disk's work
	broken  error      // a sync failed: nothing is written any more

	mu       sync.RWMutex
	segments []*segment // by index; the last one is appended to
	first    uint64     // entries below were deleted
	base     base       // the newest snapshot's last entry
	failure  error      // of the last append, nil if it went well
	closed   chan struct{}
}

// base is the last entry that a snapshot contains.
type base struct{ index, term uint64 }

// Open opens the log in the existing directory dir, or begins one. SegmentSize is in
// bytes; entries up to the index snapshot are not needed.
func Open(fs disk.FS, dir string, segmentSize int64, snapshot uint64, watch Watch) (*Log, error) {
	names, err := fs.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(n string) bool { return !strings.HasSuffix(n, ".log") })
	// After a crash, the name of a segment or its removal may be only in memory: sync
	// the directory before relying on it.
	if err := syncDir(fs, dir); err != nil {
		return nil, err
	}
	l := &Log{fs: fs, dir: dir, size: segmentSize, watch: watch, closed: make(chan struct{})}
	for i, name := range names {
		if err := l.openNext(filepath.Join(dir, name), snapshot, i == len(names)-1); err != nil {
			l.Close()
			return nil, err
		}
	}
	if len(l.segments) > 0 {
		l.first = l.segments[0].first
	}
	return l, nil
}

func (l *Log) openNext(path string, snapshot uint64, isLast bool) error {
	var first uint64
	if _, err := fmt.Sscanf(filepath.Base(path), "%020d.log", &first); err != nil || segmentName(first) != filepath.Base(path) || first == 0 {
		return fmt.Errorf("%s is not a log segment: move it out of the log's directory", path)
	}
	s, err := openSegment(l.fs, path, first, isLast)
	if errors.Is(err, errTornCreate) {
		return l.fs.Remove(path)
	}
	if err != nil {
		return err
	}
	l.segments = append(l.segments, s)
	n := len(l.segments) - 1
	if n == 0 || l.segments[n-1].last()+1 == first {
		return nil
	}
	// A removal that did not reach the disk leaves empty newest segments, or oldest
	// segments that contain only entries of the snapshot.
	want := l.segments[n-1].last() + 1
	switch {
	case len(s.offsets) == 0:
		return l.remove(s, l.segments[:n])
	case want <= snapshot+1 && first <= snapshot+1 && want < first:
		return l.removeOldest(n)
	}
	return &DamageError{File: path, Index: min(want, first), Problem: fmt.Sprintf("the log continues with entry %d instead of entry %d: a segment is missing or was cut short", first, want)}
}

// FirstIndex returns the index of the oldest entry; 0 if the log is empty.
func (l *Log) FirstIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.empty() {
		return 0, nil
	}
	return max(l.first, l.segments[0].first), nil
}

// LastIndex returns the index of the newest entry; 0 if the log is empty.
func (l *Log) LastIndex() (uint64, error) {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if l.empty() {
		return 0, nil
	}
	return l.segments[len(l.segments)-1].last(), nil
}

func (l *Log) empty() bool {
	n := len(l.segments)
	return n == 0 || l.segments[n-1].last() < max(l.first, l.segments[0].first)
}

// GetLog reads the entry of an index. For the newest snapshot's last entry it returns only
// the term if the log begins after it.
func (l *Log) GetLog(index uint64, entry *raft.Log) error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	if index >= l.first {
		for _, s := range slices.Backward(l.segments) {
			if index >= s.first {
				if index > s.last() {
					break
				}
				return s.read(index, entry)
			}
		}
	}
	if index == l.base.index && index > 0 {
		*entry = raft.Log{Index: index, Term: l.base.term, Type: raft.LogNoop}
		return nil
	}
	return raft.ErrLogNotFound
}

// Rebase informs the log that a snapshot holds everything up to the entry with that index and
// term. The log keeps its entries if they have the same history, because entries behind the
// snapshot may have been acknowledged. Otherwise, and where the log ends before the snapshot,
// it keeps only entries behind the snapshot, which raft compares with the leader's.
func (l *Log) Rebase(index, term uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	if index == 0 || index < l.base.index {
		return nil
	}
	keep, err := l.agrees(index, term)
	if err != nil {
		return err
	}
	var rest []*raft.Log
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	if !keep && last > 0 {
		for i := index + 1; i <= last; i++ {
			e := new(raft.Log)
			if err := l.GetLog(i, e); err != nil {
				return err
			}
			rest = append(rest, e)
		}
		// The newest first: after a crash, Open drops the remaining ones.
		if err := l.note(l.deleteFrom(first)); err != nil {
			return err
		}
	}
	l.mu.Lock()
	l.base = base{index, term}
	l.mu.Unlock()
	if len(rest) == 0 {
		return nil
	}
	return l.note(l.store(rest))
}

// agrees reports whether the log contains the entry, or begins directly after it.
func (l *Log) agrees(index, term uint64) (bool, error) {
	var e raft.Log
	switch err := l.GetLog(index, &e); {
	case err == nil:
		return e.Term == term, nil
	case !errors.Is(err, raft.ErrLogNotFound):
		return false, err
	}
	first, err := l.FirstIndex()
	return first > index, err
}

// StoreLog appends one entry.
func (l *Log) StoreLog(entry *raft.Log) error { return l.StoreLogs([]*raft.Log{entry}) }

// StoreLogs appends entries and returns when they are on the disk. If it fails, it has
// appended none of them, and the caller may retry.
func (l *Log) StoreLogs(entries []*raft.Log) error {
	if len(entries) == 0 {
		return nil
	}
	l.writing.Lock()
	defer l.writing.Unlock()
	err := disk.Explain(l.fs, l.dir, l.store(entries))
	l.note(err)
	l.mu.Lock()
	l.failure = err
	l.mu.Unlock()
	l.watch.failed(err)
	if err != nil {
		select {
		case <-time.After(retryPause):
		case <-l.closed:
		}
	}
	return err
}

// buffers pools memory for records that are being written.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer bounds the pooled buffers, in bytes.
const maxBuffer = 8 << 20

// note records the failure of a sync. After that, the log rejects all writes.
func (l *Log) note(err error) error {
	if l.broken == nil && isSyncError(err) {
		l.broken = err
		l.watch.broken(err)
	}
	return err
}

func (l *Log) store(entries []*raft.Log) error {
	if l.broken != nil {
		return l.broken
	}
	s, err := l.tail(entries[0].Index)
	if err != nil {
		return fmt.Errorf("begin a log segment: %w", err)
	}
	batch := entries[0].Index
	size := 0
	for i, e := range entries {
		if e.Index != batch+uint64(i) {
			return fmt.Errorf("log entry %d follows entry %d", e.Index, batch+uint64(i)-1)
		}
		size += prefixSize + fixedSize + len(e.Extensions) + len(e.Data) + 8
	}
	buffer := buffers.Get().(*[]byte)
	records, offsets := slices.Grow((*buffer)[:0], size), make([]int64, len(entries))
	for i, e := range entries {
		offsets[i] = s.end + int64(len(records))
		records = appendRecord(records, e, batch)
	}
	// The lock is taken only to make the result visible: readers do not wait
	// for the disk.
	t := segment{file: s.file, end: s.end, unclean: s.unclean}
	err = t.append(records, l.size, l.watch)
	if cap(records) <= maxBuffer {
		*buffer = records[:0]
		buffers.Put(buffer)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	s.unclean = t.unclean
	if err == nil {
		s.end = t.end
		s.offsets = append(s.offsets, offsets...)
	}
	return err
}

// tail returns the segment to which the entry of that index is appended.
func (l *Log) tail(next uint64) (*segment, error) {
	n := len(l.segments)
	switch {
	case n == 0:
	case l.segments[n-1].last()+1 != next && !l.empty():
		return nil, fmt.Errorf("log entry %d cannot follow entry %d", next, l.segments[n-1].last())
	case l.segments[n-1].last()+1 != next:
		if err := l.removeOldest(n); err != nil { // all was deleted: begin anew behind a snapshot
			return nil, err
		}
	case l.segments[n-1].end < l.size || len(l.segments[n-1].offsets) == 0:
		return l.segments[n-1], nil
	}
	s, err := createSegment(l.fs, l.dir, next, l.size)
	if err != nil {
		return nil, err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.segments) == 0 {
		l.first = next
	}
	l.segments = append(l.segments, s)
	return s, nil
}

// Failure returns the error of the last append; nil if it succeeded.
func (l *Log) Failure() error {
	l.mu.RLock()
	defer l.mu.RUnlock()
	return l.failure
}

// Close closes the files.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-l.closed:
		return nil
	default:
		close(l.closed)
	}
	var errs []error
	for _, s := range l.segments {
		errs = append(errs, s.file.Close())
	}
	return errors.Join(errs...)
}
