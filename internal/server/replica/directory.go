// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package replica

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/replica/disk"
)

// directoryFormat is the layout of the data directory that this version reads
// and writes: meta.json, lock, acknowledged, log/, snapshots/.
const directoryFormat = 1

// directory is a server's data directory, locked by this process.
type directory struct {
	path string
	lock *os.File
	meta meta
	mark *watermark
}

// meta identifies the server that owns the directory.
type meta struct {
	Format   int
	ServerID string
}

// openDirectory creates the directory if necessary, locks it and reads its owner. A new
// directory belongs to the server with the id, or to a new server if id is "".
func openDirectory(path, id string) (_ *directory, err error) {
	if err := os.MkdirAll(filepath.Join(path, "log"), 0o700); err != nil {
		return nil, fmt.Errorf("data directory cannot be used: %w; choose one that this user can write to", err)
	}
	d := &directory{path: path}
	defer func() {
		if err != nil {
			d.close()
		}
	}()
	if err := d.acquire(); err != nil {
		return nil, err
	}
	if err := d.readMeta(id); err != nil {
		return nil, err
	}
	if d.mark, err = openWatermark(filepath.Join(path, "acknowledged")); err != nil {
		return nil, err
	}
	return d, nil
}

func (d *directory) close() {
	if d.mark != nil {
		d.mark.close()
	}
	if d.lock != nil {
		d.lock.Close() // gives the lock up
	}
}

func (d *directory) logPath() string { return filepath.Join(d.path, "log") }

// acquire takes the lock. The kernel releases it when the process ends in any way.
func (d *directory) acquire() error {
	path := filepath.Join(d.path, "lock")
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return fmt.Errorf("data directory cannot be used: %w; choose one that this user can write to", err)
	}
	d.lock = f
	if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		holder, _ := os.ReadFile(path)
		who := "another process"
		if pid := strings.TrimSpace(string(holder)); pid != "" {
			who = "process " + pid
		}
		return fmt.Errorf("data directory %s is in use by %s: stop that one, or give this one its own directory", d.path, who)
	}
	// Write it in place, which also works on a full disk. Only the error of the next
	// process that tries to lock the directory uses it.
	_, _ = f.WriteAt(fmt.Appendf(nil, "%-19d\n", os.Getpid()), 0)
	return nil
}

func (d *directory) readMeta(id string) error {
	path := filepath.Join(d.path, "meta.json")
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		if logs, _ := filepath.Glob(filepath.Join(d.logPath(), "*.log")); len(logs) > 0 {
			return fmt.Errorf("%s is missing beside a log: put it back from a copy; it says which server the log belongs to", path)
		}
		if id == "" {
			id = api.NewID()
		}
		d.meta = meta{Format: directoryFormat, ServerID: id}
		return d.writeMeta(path)
	}
	if err != nil {
		return fmt.Errorf("read data directory: %w", err)
	}
	if err := json.Unmarshal(text, &d.meta); err != nil || d.meta.ServerID == "" {
		return fmt.Errorf("%s is damaged: put it back from a copy; it says which server the log belongs to", path)
	}
	if d.meta.Format != directoryFormat {
		return fmt.Errorf("data directory %s has format %d and this version of Reeve reads format %d: use the version that wrote it, or a newer one", d.path, d.meta.Format, directoryFormat)
	}
	if id != "" && id != d.meta.ServerID {
		return fmt.Errorf("data directory %s belongs to server %s, not %s: give each server its own directory", d.path, d.meta.ServerID, id)
	}
	return nil
}

func (d *directory) writeMeta(path string) error {
	text, err := json.MarshalIndent(d.meta, "", "  ")
	if err != nil {
		return err
	}
	f, err := os.CreateTemp(d.path, "meta-*")
	if err != nil {
		return fmt.Errorf("write data directory: %w", err)
	}
	defer os.Remove(f.Name())
	_, err = f.Write(append(text, '\n'))
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	for _, dir := range []string{d.path, filepath.Dir(d.path)} {
		if err == nil {
			err = disk.OS.SyncDir(dir)
		}
	}
	if err != nil {
		return fmt.Errorf("write data directory: %w", err)
	}
	return nil
}

// watermark is the index of the last acknowledged entry, in a mapped page that the kernel
// keeps when the process is killed. After a power failure it may be too low, never too
// high: it is stored after the entry is on the disk. So a log that ends below it has lost
// acknowledged entries.
type watermark struct {
	memory []byte
}

func openWatermark(path string) (*watermark, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	defer f.Close()
	const size = 4096
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if info.Size() < size {
		if _, err := f.WriteAt(make([]byte, size-info.Size()), info.Size()); err != nil {
			return nil, fmt.Errorf("write %s: %w", path, err)
		}
	}
	memory, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("map %s: %w", path, err)
	}
	return &watermark{memory}, nil
}

func (w *watermark) load() uint64 { return binary.LittleEndian.Uint64(w.memory) }

// raise stores an index. The write of one aligned word is atomic, so a kill never leaves
// half of it.
func (w *watermark) raise(index uint64) {
	if index <= w.load() {
		return
	}
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], index)
	atomic.StoreUint64((*uint64)(unsafe.Pointer(&w.memory[0])), binary.NativeEndian.Uint64(b[:]))
}

func (w *watermark) close() { unix.Munmap(w.memory) }
