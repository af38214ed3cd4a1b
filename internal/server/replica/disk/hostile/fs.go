// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package hostile

import (
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// ErrDown is what every call gets after a crash, until Reboot or Restart.
var ErrDown = errors.New("the machine is down")

// Call is a call that changes something, or syncs.
type Call struct {
	Verb string // create, mkdir, remove, rename, syncdir, write, truncate, allocate, sync
	Path string
	N    int // of the file system's calls, from 1
}

// Fault is what becomes of a call.
type Fault struct {
	Err   error         // it fails; a write or sync may have been done in part
	Crash bool          // the machine or process ends in the middle of it
	Wait  chan struct{} // closed to let it continue
}

// FS is a disk.FS.
type FS struct {
	// Judge says what becomes of a call; nil: all go well. It is called without
	// any lock held.
	Judge func(Call) Fault

	mu    sync.Mutex
	rng   *rand.Rand
	root  *node
	calls int
	boot  int // files that were opened before are of no use
	down  bool
}

var _ disk.FS = (*FS)(nil)

// New returns an empty file system. Seed decides what survives.
func New(seed uint64) *FS {
	return &FS{rng: rand.New(rand.NewPCG(seed, 1)), root: newDir()}
}

// Calls is how many calls were judged.
func (f *FS) Calls() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.calls
}

// Reboot restarts the machine after a power failure: a random part of the unsynced data
// survives.
func (f *FS) Reboot() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.root.lose(f.rng, []float64{0, 0.5, 1}[f.rng.IntN(3)])
	f.boot, f.down = f.boot+1, false
}

// Restart restarts a killed process: all data survives, synced or not.
func (f *FS) Restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boot, f.down = f.boot+1, false
}

// call has a call judged and, unless it fails, done.
func (f *FS) call(verb, path string, do func(survives bool) error) error {
	f.mu.Lock()
	if f.down {
		f.mu.Unlock()
		return ErrDown
	}
	f.calls++
	c, judge := Call{verb, path, f.calls}, f.Judge
	f.mu.Unlock()
	var fault Fault
	if judge != nil {
		fault = judge(c)
	}
	if fault.Wait != nil {
		<-fault.Wait
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case f.down:
		return ErrDown
	case fault.Crash:
		f.down = true
		_ = do(false)
		return ErrDown
	case fault.Err != nil:
		_ = do(false)
		return &fs.PathError{Op: verb, Path: path, Err: fault.Err}
	}
	return do(true)
}

// find returns the node of a path.
func (f *FS) find(path string) (*node, error) {
	n := f.root
	for _, name := range strings.Split(strings.Trim(filepath.Clean(path), "/"), "/") {
		if name == "" {
			continue
		}
		if n = n.names[name]; n == nil {
			return nil, &fs.PathError{Op: "open", Path: path, Err: os.ErrNotExist}
		}
	}
	return n, nil
}

func (f *FS) parent(path string) (*node, string, error) {
	n, err := f.find(filepath.Dir(path))
	return n, filepath.Base(path), err
}

// Open implements disk.FS.
func (f *FS) Open(path string) (disk.File, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, ErrDown
	}
	n, err := f.find(path)
	if err != nil {
		return nil, err
	}
	return &file{f, n, path, f.boot}, nil
}

// Create implements disk.FS.
func (f *FS) Create(path string) (out disk.File, err error) {
	err = f.call("create", path, func(ok bool) error {
		dir, name, err := f.parent(path)
		if err != nil || !ok && f.rng.IntN(2) == 0 {
			return err
		}
		n := dir.names[name]
		if n == nil {
			n = &node{}
			dir.change(change{to: name, node: n})
		}
		n.truncate(0)
		out = &file{f, n, path, f.boot}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// Mkdir implements disk.FS.
func (f *FS) Mkdir(path string) error {
	return f.call("mkdir", path, func(ok bool) error {
		dir, name, err := f.parent(path)
		switch {
		case err != nil:
			return err
		case dir.names[name] != nil:
			return &fs.PathError{Op: "mkdir", Path: path, Err: os.ErrExist}
		}
		if ok || f.rng.IntN(2) == 0 {
			dir.change(change{to: name, node: newDir()})
		}
		return nil
	})
}

// ReadDir implements disk.FS.
func (f *FS) ReadDir(path string) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.down {
		return nil, ErrDown
	}
	n, err := f.find(path)
	if err != nil {
		return nil, err
	}
	var names []string
	for name := range n.names {
		names = append(names, name)
	}
	slices.Sort(names)
	return names, nil
}

// Remove implements disk.FS.
func (f *FS) Remove(path string) error {
	return f.call("remove", path, func(ok bool) error {
		dir, name, err := f.parent(path)
		switch {
		case err != nil:
			return err
		case dir.names[name] == nil:
			return &fs.PathError{Op: "remove", Path: path, Err: os.ErrNotExist}
		case len(dir.names[name].names) > 0:
			return &fs.PathError{Op: "remove", Path: path, Err: errors.New("directory not empty")}
		}
		if ok || f.rng.IntN(2) == 0 {
			dir.change(change{from: name})
		}
		return nil
	})
}

// Rename implements disk.FS, within a directory.
func (f *FS) Rename(from, to string) error {
	return f.call("rename", from, func(ok bool) error {
		dir, name, err := f.parent(from)
		if err != nil || dir.names[name] == nil {
			return &fs.PathError{Op: "rename", Path: from, Err: os.ErrNotExist}
		}
		if ok || f.rng.IntN(2) == 0 {
			dir.change(change{from: name, to: filepath.Base(to), node: dir.names[name]})
		}
		return nil
	})
}

// SyncDir implements disk.FS.
func (f *FS) SyncDir(path string) error {
	return f.call("syncdir", path, func(ok bool) error {
		n, err := f.find(path)
		if err != nil {
			return err
		}
		if ok || !f.down { // a crash has done nothing yet, and forgets nothing
			n.syncNames(f.rng, ok)
		}
		return nil
	})
}

// Free implements disk.FS.
func (f *FS) Free(string) (uint64, error) { return 4096, nil }
