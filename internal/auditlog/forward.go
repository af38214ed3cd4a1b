// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// A Position is a place between two lines of the files of a log. The zero value is the beginning of the
// oldest file.
type Position struct {
	File   uint64
	Offset int64
}

func (p Position) String() string { return fmt.Sprintf("%d.%d", p.File, p.Offset) }

// A Batch consists of records that follow a position.
type Batch struct {
	Lines   []byte // one JSON object per line; nil: nothing follows
	Records int
	From    Position // of the first line
	Next    Position // after the last line
	Missing bool     // reports whether records before these were deleted without being read
}

// Changed returns a channel that is closed when more records are written than now.
func (l *Log) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// commit makes the lines that were written readable for Next.
func (l *Log) commit() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.committed = Position{l.files.number, l.files.size}
	close(l.changed)
	l.changed = make(chan struct{})
}

func (l *Log) end() Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.committed
}

// Next returns the records after a position, in at most limit bytes, which must be more than a record has.
// It does not wait. Damaged lines are left out.
func (l *Log) Next(p Position, limit int) (b Batch, err error) {
	for {
		end := l.end()
		all, err := numbers(l.config.Dir)
		if err != nil || len(all) == 0 {
			return b, err
		}
		i, found := slices.BinarySearch(all, p.File)
		if !found {
			b.Missing = b.Missing || p.File > 0
			if i == len(all) {
				i = 0 // the files are others than those that the position is of
			}
			p = Position{File: all[i]}
		}
		if p.File > end.File {
			b.Next = p
			return b, nil
		}
		text, last, err := readAfter(l.config.Dir, p, end, limit)
		if errors.Is(err, os.ErrNotExist) {
			continue // it was the oldest, and was deleted meanwhile
		} else if err != nil {
			return b, err
		}
		b.From, b.Next = p, Position{p.File, p.Offset + int64(len(text))}
		b.Lines, b.Records = records(text)
		switch {
		case b.Records > 0:
			return b, nil
		case len(text) > 0:
			p = b.Next
		case last && i+1 < len(all):
			p = Position{File: all[i+1]}
		default:
			return b, nil
		}
	}
}

// readAfter returns whole lines of a file after a position, or a part of a line that is longer than limit. It
// reports whether it reached the end of a file to which no more lines are added.
func readAfter(dir string, p, end Position, limit int) (text []byte, last bool, err error) {
	f, err := os.OpenFile(pathOf(dir, p.File), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, false, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, false, err
	}
	size := info.Size()
	if p.File == end.File {
		size = min(size, end.Offset)
	}
	text = make([]byte, max(0, min(int64(limit), size-p.Offset)))
	if _, err := f.ReadAt(text, p.Offset); err != nil && err != io.EOF {
		return nil, false, err
	}
	atEnd := p.Offset+int64(len(text)) >= size
	if i := bytes.LastIndexByte(text, '\n'); i >= 0 {
		return text[:i+1], false, nil
	} else if !atEnd {
		return text, false, nil
	}
	return nil, p.File < end.File, nil // a killed process left a part of a line
}

// records returns the lines of a text that are records, and their number.
func records(text []byte) (lines []byte, n int) {
	lines = text[:0]
	for line := range bytes.Lines(text) {
		if len(line) > 2 && line[0] == '{' && line[len(line)-1] == '\n' && json.Valid(line) {
			lines = append(lines, line...)
			n++
		}
	}
	return lines, n
}

// Behind returns the number of bytes that follow a position.
func (l *Log) Behind(p Position) (bytes int64) {
	all, err := numbers(l.config.Dir)
	if err != nil {
		return 0
	}
	for _, n := range all {
		info, err := os.Lstat(pathOf(l.config.Dir, n))
		switch {
		case err != nil || n < p.File:
		case n == p.File:
			bytes += max(0, info.Size()-p.Offset)
		default:
			bytes += info.Size()
		}
	}
	return bytes
}
