// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package auditlog

import (
	"bytes"
	"io"
	"os"
)

const (
	chunk   = 64 << 10
	maxLine = 64 << 10 // longer lines are not records
)

// A backward reader returns the lines of a file from the last to the first.
type backward struct {
	file  io.ReaderAt
	end   int64  // position after the next line that is returned
	start int64  // position of held
	held  []byte // bytes of the file from start to end
}

// newBackward returns a reader of the lines before a position; -1 is the end of the file.
func newBackward(f *os.File, end int64) (*backward, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if end < 0 || end > info.Size() {
		end = info.Size()
	}
	return &backward{file: f, end: end, start: end}, nil
}

// next returns the next line without its end; nil at the beginning of the file. The line is valid until
// the next call. Empty and overlong lines are left out.
func (b *backward) next() ([]byte, error) {
	overlong := false
	for b.end > 0 {
		text := bytes.TrimSuffix(b.held, []byte{'\n'})
		if i := bytes.LastIndexByte(text, '\n'); i >= 0 || b.start == 0 && len(b.held) > 0 {
			line := text[i+1:]
			b.held = b.held[:i+1]
			b.end = b.start + int64(i+1)
			if !overlong && len(line) > 0 {
				return line, nil
			}
			overlong = false
			continue
		}
		if len(b.held) > maxLine {
			overlong = true
			b.held = b.held[:0]
			b.end = b.start
		}
		if err := b.fill(); err != nil {
			return nil, err
		}
	}
	return nil, nil
}

// fill reads the chunk before the held bytes.
func (b *backward) fill() error {
	n := min(chunk, b.start)
	more := make([]byte, n, int(n)+len(b.held))
	if _, err := b.file.ReadAt(more, b.start-n); err != nil {
		return err
	}
	b.held, b.start = append(more, b.held...), b.start-n
	return nil
}
