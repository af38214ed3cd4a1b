// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package failpoint

import (
	"fmt"
	"os"
	"sync/atomic"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Env is the environment variable with the path of the page.
const Env = "REEVE_FAULTS"

// size is the length of the file in bytes.
const size = 4096

// Disk is a behaviour of the disk.
type Disk int64

// Behaviours of the disk.
const (
	Healthy Disk = iota
	Full         // writes fail with ENOSPC
	Broken       // syncs fail with EIO
	Hanging      // syncs wait for the end of this behaviour
	Slow         // syncs last longer by the delay
)

// A Page is shared between processes through a file.
type Page struct{ words *[size / 8]int64 }

// Positions of the words. The clock is the first: the patched package time reads it.
const (
	clock = iota
	behaviour
	delay
)

// Open maps the file, and creates it if necessary.
func Open(path string) (*Page, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if err := f.Truncate(size); err != nil {
		return nil, err
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return &Page{(*[size / 8]int64)(unsafe.Pointer(&memory[0]))}, nil
}

// Close unmaps the page.
func (p *Page) Close() error {
	return unix.Munmap(unsafe.Slice((*byte)(unsafe.Pointer(p.words)), size))
}

// SetClock sets the difference between the process's wall clock and that of the machine.
func (p *Page) SetClock(offset time.Duration) { atomic.StoreInt64(&p.words[clock], int64(offset)) }

// SetDisk sets the behaviour of the disk. slow is the delay of syncs for Slow.
func (p *Page) SetDisk(d Disk, slow time.Duration) {
	atomic.StoreInt64(&p.words[delay], int64(slow))
	atomic.StoreInt64(&p.words[behaviour], int64(d))
}

// Disk returns the behaviour of the disk.
func (p *Page) Disk() Disk { return Disk(atomic.LoadInt64(&p.words[behaviour])) }

// Delay returns the delay of a sync for Slow.
func (p *Page) Delay() time.Duration { return time.Duration(atomic.LoadInt64(&p.words[delay])) }
