// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

//go:build faults

package disk

import (
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/failpoint"
)

// Binaries with the tag faults keep writes in the memory of the process until a sync, so that the
// end of the process loses what the end of the machine would lose. The failpoints' page makes
// the disk slow, full or broken. Names in directories are not delayed.
func init() {
	path := os.Getenv(failpoint.Env)
	if path == "" {
		return
	}
	page, err := failpoint.Open(path)
	if err != nil {
		panic("open the failpoints: " + err.Error())
	}
	OS = &faulty{machine{}, page}
}

type faulty struct {
	FS
	page *failpoint.Page
}

func (f *faulty) Open(path string) (File, error) { return f.wrap(f.FS.Open(path)) }

func (f *faulty) Create(path string) (File, error) { return f.wrap(f.FS.Create(path)) }

func (f *faulty) wrap(under File, err error) (File, error) {
	if err != nil {
		return nil, err
	}
	return &volatile{File: under, page: f.page}, nil
}

func (f *faulty) SyncDir(path string) error {
	if err := syncFault(f.page, path); err != nil {
		return err
	}
	return f.FS.SyncDir(path)
}

func (f *faulty) Free(path string) (uint64, error) {
	if f.page.Disk() == failpoint.Full {
		return 0, nil
	}
	return f.FS.Free(path)
}

// volatile is a file with writes that no sync has made durable.
type volatile struct {
	File
	page *failpoint.Page

	mu      sync.RWMutex
	pending []write // in order; later ones replace earlier ones where they overlap
}

type write struct {
	at   int64
	data []byte
}

func (w write) end() int64 { return w.at + int64(len(w.data)) }

// ReadAt implements io.ReaderAt.
func (v *volatile) ReadAt(b []byte, at int64) (int, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	n, err := v.File.ReadAt(b, at)
	if len(v.pending) == 0 {
		return n, err
	}
	for _, w := range v.pending {
		from, to := max(w.at, at), min(w.end(), at+int64(len(b)))
		if from >= to {
			continue
		}
		if gap := int(from - at); gap > n {
			clear(b[n:gap])
		}
		copy(b[from-at:to-at], w.data[from-w.at:])
		n = max(n, int(to-at))
	}
	if n == len(b) {
		return n, nil
	}
	return n, io.EOF
}

// WriteAt implements io.WriterAt. A full disk rejects all writes, as one that copies on write does.
func (v *volatile) WriteAt(b []byte, at int64) (int, error) {
	if v.page.Disk() == failpoint.Full {
		return 0, &os.PathError{Op: "write", Path: v.Name(), Err: unix.ENOSPC}
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if plantedLostSyncs && len(v.pending) == 0 {
		time.AfterFunc(writeback, func() { _ = v.flush() })
	}
	v.pending = append(v.pending, write{at, slices.Clone(b)})
	return len(b), nil
}

// Size implements File.
func (v *volatile) Size() (int64, error) {
	v.mu.RLock()
	defer v.mu.RUnlock()
	size, err := v.File.Size()
	for _, w := range v.pending {
		size = max(size, w.end())
	}
	return size, err
}

// Truncate implements File.
func (v *volatile) Truncate(size int64) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	kept := v.pending[:0]
	for _, w := range v.pending {
		if w.at < size {
			w.data = w.data[:min(int64(len(w.data)), size-w.at)]
			kept = append(kept, w)
		}
	}
	v.pending = kept
	return v.File.Truncate(size)
}

// Allocate implements File.
func (v *volatile) Allocate(size int64) error {
	if v.page.Disk() == failpoint.Full {
		return &os.PathError{Op: "allocate", Path: v.Name(), Err: unix.ENOSPC}
	}
	return v.File.Allocate(size)
}

// Sync implements File.
func (v *volatile) Sync() error { return v.settle(v.File.Sync) }

// SyncData implements File.
func (v *volatile) SyncData() error { return v.settle(v.File.SyncData) }

func (v *volatile) settle(sync func() error) error {
	if plantedLostSyncs {
		return nil
	}
	if err := syncFault(v.page, v.Name()); err != nil {
		return err
	}
	if err := v.flush(); err != nil {
		return err
	}
	return sync()
}

// flush writes the pending writes to the file.
func (v *volatile) flush() error {
	v.mu.Lock()
	defer v.mu.Unlock()
	for _, w := range v.pending {
		if _, err := v.File.WriteAt(w.data, w.at); err != nil {
			return err
		}
	}
	v.pending = nil
	return nil
}

// Close implements io.Closer. A kernel would write the data later.
func (v *volatile) Close() error {
	_ = v.flush()
	return v.File.Close()
}

// hangPoll is the interval at which a hanging sync looks for the end of the fault.
const hangPoll = 5 * time.Millisecond

// syncFault applies the behaviour of the disk to one sync.
func syncFault(page *failpoint.Page, path string) error {
	switch page.Disk() {
	case failpoint.Broken:
		return &os.PathError{Op: "sync", Path: path, Err: unix.EIO}
	case failpoint.Slow:
		time.Sleep(page.Delay())
	case failpoint.Hanging:
		for page.Disk() == failpoint.Hanging {
			time.Sleep(hangPoll)
		}
	}
	return nil
}

// writeback is the time after which a kernel writes data that nobody synced.
const writeback = 5 * time.Second
