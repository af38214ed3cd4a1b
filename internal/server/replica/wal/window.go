// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package wal

import (
	"fmt"
	"slices"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// windowBytes is the least that a window reads at once.
const windowBytes = 256 << 10

// A window reads a file from front to back, and holds a small part of it: a server opens
// segments of many megabytes before it does anything else, and would keep that memory for a
// while.
type window struct {
	file   disk.File
	buffer *[]byte // from buffers
	held   []byte  // part of the file
	at     int64   // offset of held
	size   int64   // of the file
}

func newWindow(f disk.File) (*window, error) {
	size, err := f.Size()
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", f.Name(), err)
	}
	return &window{file: f, buffer: buffers.Get().(*[]byte), size: size}, nil
}

func (w *window) release() {
	if cap(*w.buffer) <= maxBuffer {
		buffers.Put(w.buffer)
	}
}

// view returns the file from an offset: n bytes or more, or what the file has. The result is
// valid until the next call.
func (w *window) view(offset int64, n int) ([]byte, error) {
	left := max(w.size-offset, 0)
	n = int(min(int64(n), left)) // a damaged record may claim any length
	skip := offset - w.at
	if skip < 0 || skip > int64(len(w.held)) {
		w.held, skip = nil, 0
	}
	rest := w.held[skip:]
	if len(rest) >= n {
		return rest, nil
	}
	*w.buffer = slices.Grow((*w.buffer)[:0], max(n, int(min(windowBytes, left))))
	b := (*w.buffer)[:min(int64(cap(*w.buffer)), left)]
	kept := copy(b, rest)
	if read, err := w.file.ReadAt(b[kept:], offset+int64(kept)); read < len(b)-kept {
		return nil, fmt.Errorf("read %s: %w", w.file.Name(), err)
	}
	w.held, w.at = b, offset
	return b, nil
}

// record returns the file from an offset, so far that it contains the whole record there if
// the file does.
func (w *window) record(offset int64) ([]byte, error) {
	b, err := w.view(offset, prefixSize+fixedSize)
	if size := recordSize(b); err == nil && size > len(b) {
		return w.view(offset, size)
	}
	return b, err
}

// isZeroFrom reports whether the file has nothing but zeros from an offset.
func (w *window) isZeroFrom(offset int64) (bool, error) {
	for offset < w.size {
		b, err := w.view(offset, windowBytes)
		if err != nil || !isZero(b) {
			return false, err
		}
		offset += int64(len(b))
	}
	return true, nil
}
