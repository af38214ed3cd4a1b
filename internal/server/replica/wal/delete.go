// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import "fmt"

// DeleteRange deletes the oldest entries, up to max, or the newest entries, from min.
func (l *Log) DeleteRange(min, max uint64) error {
	l.writing.Lock()
	defer l.writing.Unlock()
	first, _ := l.FirstIndex()
	last, _ := l.LastIndex()
	switch {
	case min > max || max < first || min > last || last == 0:
		return nil
	case l.broken != nil:
		return l.broken
	case min <= first:
		return l.note(l.deleteUntil(max))
	case max >= last:
		return l.note(l.deleteFrom(min))
	}
	return fmt.Errorf("log entries %d to %d are neither the oldest nor the newest", min, max)
}

func (l *Log) deleteUntil(max uint64) error {
	l.mu.Lock()
	l.first = max + 1
	n := 0
	for n < len(l.segments)-1 && l.segments[n].last() <= max {
		n++
	}
	l.mu.Unlock()
	return l.removeOldest(n)
}

// removeOldest deletes the n oldest segments.
func (l *Log) removeOldest(n int) error {
	for ; n > 0; n-- {
		if err := l.remove(l.segments[0], l.segments[1:]); err != nil {
			return err
		}
	}
	return nil
}

// deleteFrom empties and removes the newest segments first: after a crash, the log ends
// earlier, and a removed file that reappears is empty.
func (l *Log) deleteFrom(min uint64) error {
	for {
		n := len(l.segments)
		s := l.segments[n-1]
		if err := l.cut(s, min); err != nil || n == 1 || s.first < min {
			return err
		}
		if err := l.remove(s, l.segments[:n-1]); err != nil {
			return err
		}
	}
}

// cut drops the segment's entries from min.
func (l *Log) cut(s *segment, min uint64) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	i := uint64(0)
	if min > s.first {
		i = min - s.first
	}
	if i < uint64(len(s.offsets)) {
		s.end, s.offsets, s.unclean = s.offsets[i], s.offsets[:i], true
	}
	return s.clean(l.size)
}

// remove deletes a segment's file, and keeps the others. It returns when the removal is on
// the disk: if removals reached the disk in another order, the log could lack a segment
// in its middle, which is damage.
func (l *Log) remove(s *segment, others []*segment) error {
	if err := l.fs.Remove(s.file.Name()); err != nil {
		return err
	}
	l.mu.Lock()
	s.file.Close()
	l.segments = others
	l.mu.Unlock()
	return syncDir(l.fs, l.dir)
}
