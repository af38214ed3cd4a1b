// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package hostile

import "io"

// file is an open file.
type file struct {
	fs   *FS
	node *node
	path string
	boot int
}

// call is FS.call for a file that was opened since the last crash.
func (f *file) call(verb string, do func(ok bool) error) error {
	return f.fs.call(verb, f.path, func(ok bool) error {
		if f.boot != f.fs.boot {
			return ErrDown
		}
		return do(ok)
	})
}

// ReadAt implements disk.File.
func (f *file) ReadAt(b []byte, offset int64) (int, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.down || f.boot != f.fs.boot {
		return 0, ErrDown
	}
	if offset >= int64(len(f.node.data)) {
		return 0, io.EOF
	}
	n := copy(b, f.node.data[offset:])
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// WriteAt implements disk.File. One that fails has written part of it.
func (f *file) WriteAt(b []byte, offset int64) (int, error) {
	n := len(b)
	err := f.call("write", func(ok bool) error {
		if !ok {
			n = f.fs.rng.IntN(len(b) + 1)
		}
		f.node.write(b[:n], offset)
		return nil
	})
	return n, err
}

// Truncate implements disk.File.
func (f *file) Truncate(size int64) error {
	return f.call("truncate", func(ok bool) error {
		if ok || f.fs.rng.IntN(2) == 0 {
			f.node.truncate(size)
		}
		return nil
	})
}

// Allocate implements disk.File.
func (f *file) Allocate(size int64) error {
	return f.call("allocate", func(ok bool) error {
		if ok && size > int64(len(f.node.data)) {
			f.node.truncate(size)
		}
		return nil
	})
}

// Sync implements disk.File.
func (f *file) Sync() error {
	return f.call("sync", func(ok bool) error {
		if ok || !f.fs.down {
			f.node.sync(f.fs.rng, ok)
		}
		return nil
	})
}

// SyncData implements disk.File.
func (f *file) SyncData() error { return f.Sync() }

// Size implements disk.File.
func (f *file) Size() (int64, error) {
	f.fs.mu.Lock()
	defer f.fs.mu.Unlock()
	if f.fs.down || f.boot != f.fs.boot {
		return 0, ErrDown
	}
	return int64(len(f.node.data)), nil
}

// Name implements disk.File.
func (f *file) Name() string { return f.path }

// Close implements disk.File.
func (f *file) Close() error { return nil }
