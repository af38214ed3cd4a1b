// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package disk

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// FS is a file system. Names that it returns are sorted.
type FS interface {
	Open(path string) (File, error)   // for reading and writing
	Create(path string) (File, error) // or empties it
	Mkdir(path string) error
	ReadDir(path string) ([]string, error)
	Remove(path string) error // a file, or an empty directory
	Rename(from, to string) error
	SyncDir(path string) error
	Free(path string) (uint64, error) // bytes
}

// File is an open file.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	Name() string
	Size() (int64, error)
	Truncate(size int64) error
	Allocate(size int64) error // reserves blocks, where the file system can
	Sync() error
	SyncData() error // without what reading the file back does not need
}

// OS is the machine's file system.
var OS FS = machine{}

type machine struct{}

func (machine) Open(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (machine) Create(path string) (File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err
	}
	return file{f}, nil
}

func (machine) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (machine) ReadDir(path string) ([]string, error) {
	entries, err := os.ReadDir(path)
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (machine) Remove(path string) error     { return os.Remove(path) }
func (machine) Rename(from, to string) error { return os.Rename(from, to) }

func (machine) SyncDir(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	defer d.Close()
	return d.Sync()
}

func (machine) Free(path string) (uint64, error) {
	var s unix.Statfs_t
	if err := unix.Statfs(path, &s); err != nil {
		return 0, &os.PathError{Op: "statfs", Path: path, Err: err}
	}
	return s.Bavail * uint64(s.Bsize), nil
}

type file struct{ *os.File }

func (f file) Size() (int64, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return info.Size(), nil
}

func (f file) Allocate(size int64) error {
	err := unix.Fallocate(int(f.Fd()), 0, 0, size)
	if err == nil || errors.Is(err, unix.EOPNOTSUPP) || errors.Is(err, unix.ENOSYS) {
		return nil
	}
	return &os.PathError{Op: "allocate", Path: f.Name(), Err: err}
}

func (f file) SyncData() error {
	if err := unix.Fdatasync(int(f.Fd())); err != nil {
		return &os.PathError{Op: "sync", Path: f.Name(), Err: err}
	}
	return nil
}

// MakeDir makes a directory, and its parents, and returns when they are on the
// disk.
func MakeDir(fs FS, path string) error {
	parent := filepath.Dir(path)
	if _, err := fs.ReadDir(path); errors.Is(err, os.ErrNotExist) && parent != path {
		if err := MakeDir(fs, parent); err != nil {
			return err
		}
		if err := fs.Mkdir(path); err != nil {
			return err
		}
	} else if err != nil {
		return err
	}
	// Whoever made it may have been killed before this.
	if err := fs.SyncDir(parent); err != nil {
		return &SyncError{Path: parent, Err: err}
	}
	return nil
}

// RemoveAll removes a directory and the files in it.
func RemoveAll(fs FS, dir string) error {
	names, err := fs.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, name := range names {
		if err := fs.Remove(filepath.Join(dir, name)); err != nil {
			return err
		}
	}
	return fs.Remove(dir)
}

// ReadFile returns what a file holds. A file of more than limit bytes is an error.
func ReadFile(fs FS, path string, limit int64) ([]byte, error) {
	f, err := fs.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	size, err := f.Size()
	switch {
	case err != nil:
		return nil, err
	case size > limit:
		return nil, fmt.Errorf("%s: %d bytes are more than the %d that it may have", path, size, limit)
	}
	b := make([]byte, size)
	if _, err := f.ReadAt(b, 0); err != nil && !(errors.Is(err, io.EOF) && size == 0) {
		return nil, err
	}
	return b, nil
}

// Writer writes a file from its beginning on.
type Writer struct {
	File
	Size int64 // written so far
}

// Write implements io.Writer.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.WriteAt(b, w.Size)
	w.Size += int64(n)
	return n, err
}
