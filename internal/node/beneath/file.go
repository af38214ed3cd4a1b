// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"errors"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"
)

// Append opens a file for appending and returns its size. It creates a missing file. It
// returns ErrOccupied if the name denotes anything but a regular file that belongs to this
// process's user and has one name. It replaces a pipe, socket, device or link, because none
// of these holds data.
func (d *Dir) Append(name string, mode fs.FileMode) (*os.File, int64, error) {
	if err := single(name); err != nil {
		return nil, 0, err
	}
	for range 2 {
		fd, err := openat(d.fd(), name, unix.O_WRONLY|unix.O_APPEND|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(mode.Perm()))
		if err == nil {
			return os.NewFile(uintptr(fd), d.path(name)), 0, nil
		}
		if err != unix.EEXIST {
			return nil, 0, d.fail("create", name, err)
		}
		var st unix.Stat_t
		err = unix.Fstatat(d.fd(), name, &st, unix.AT_SYMLINK_NOFOLLOW)
		switch {
		case err == unix.ENOENT: // it was just removed
			continue
		case err != nil:
			return nil, 0, d.fail("inspect", name, err)
		case isOwn(&st):
			return d.appendTo(name)
		case !holdsData(&st):
			if err := d.Remove(name); err != nil {
				return nil, 0, err
			}
		default:
			return nil, 0, d.fail("append to", name, ErrOccupied)
		}
	}
	return nil, 0, d.fail("append to", name, ErrOccupied)
}

// appendTo opens a file that was this process's own when it was checked.
func (d *Dir) appendTo(name string) (*os.File, int64, error) {
	fd, err := openat(d.fd(), name, unix.O_WRONLY|unix.O_APPEND|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		// A link, a pipe without a reader, or a file that a task holds a lease on.
		if err == unix.ELOOP || err == unix.ENXIO || err == unix.EAGAIN || err == unix.EISDIR {
			err = ErrOccupied
		}
		return nil, 0, d.fail("append to", name, err)
	}
	var st unix.Stat_t
	if err = unix.Fstat(fd, &st); err == nil && !isOwn(&st) {
		err = ErrOccupied
	}
	if err != nil {
		unix.Close(fd)
		return nil, 0, d.fail("append to", name, err)
	}
	unix.SetNonblock(fd, false)
	return os.NewFile(uintptr(fd), d.path(name)), st.Size, nil
}

func isOwn(st *unix.Stat_t) bool {
	return st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink == 1 && int(st.Uid) == os.Geteuid()
}

func holdsData(st *unix.Stat_t) bool {
	kind := st.Mode & unix.S_IFMT
	return kind == unix.S_IFREG || kind == unix.S_IFDIR
}

// Create creates a file, replacing any other file of that name.
func (d *Dir) Create(name string, mode fs.FileMode) (*os.File, error) {
	if err := d.Remove(name); err != nil {
		return nil, err
	}
	fd, err := openat(d.fd(), name, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, uint32(mode.Perm()))
	if err != nil {
		return nil, d.fail("create", name, err)
	}
	return os.NewFile(uintptr(fd), d.path(name)), nil
}

// Remove removes a file that is not a directory, if it exists.
func (d *Dir) Remove(name string) error {
	if err := single(name); err != nil {
		return err
	}
	if err := unix.Unlinkat(d.fd(), name, 0); err != nil && err != unix.ENOENT {
		return d.fail("remove", name, err)
	}
	return nil
}

// batch is the number of a directory's names that are in memory at a time: a task can create
// more than fit into memory.
const batch = 1024

// Names calls each for every name in the directory, in no particular order.
func (d *Dir) Names(each func(name string)) error {
	fd, err := openat(d.fd(), ".", dirFlags, 0) // read from the start
	if err != nil {
		return d.fail("list", ".", err)
	}
	f := os.NewFile(uintptr(fd), d.f.Name())
	defer f.Close()
	return Names(f, each)
}

// Names calls each for every name in an open directory, in no particular order.
func Names(f *os.File, each func(name string)) error {
	for {
		some, err := f.Readdirnames(batch)
		for _, name := range some {
			each(name)
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

// File opens a regular file below root for reading. It opens nothing else: opening a pipe
// blocks, and opening a device may have effects.
func File(root *os.Root, name string) (*os.File, fs.FileInfo, error) {
	info, err := root.Stat(name)
	if err == nil {
		err = mustBeRegular(name, info)
	}
	if err != nil {
		return nil, nil, err
	}
	// A task may have replaced the file since the check.
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK|unix.O_NOCTTY, 0)
	if err != nil {
		return nil, nil, err
	}
	if info, err = f.Stat(); err == nil {
		err = mustBeRegular(name, info)
	}
	if err != nil {
		f.Close()
		return nil, nil, err
	}
	return f, info, nil
}

func mustBeRegular(name string, info fs.FileInfo) error {
	switch {
	case info.Mode().IsRegular():
		return nil
	case info.IsDir():
		return &fs.PathError{Op: "read", Path: name, Err: errors.New("it is a directory")}
	}
	return &fs.PathError{Op: "read", Path: name, Err: errors.New("it is not a regular file")}
}

// List opens a directory below root for reading. It opens nothing else.
func List(root *os.Root, name string) (*os.File, error) {
	f, err := root.OpenFile(name, os.O_RDONLY|unix.O_DIRECTORY|unix.O_NONBLOCK, 0)
	if errors.Is(err, unix.ENOTDIR) {
		return nil, &fs.PathError{Op: "list", Path: name, Err: errors.New("it is not a directory")}
	}
	return f, err
}

// Replace gives a file of the directory another name, in one step. It replaces what has that name, unless
// that is a directory, which it removes first.
func (d *Dir) Replace(from, to string) error {
	if err := single(from); err != nil {
		return err
	}
	if err := single(to); err != nil {
		return err
	}
	err := unix.Renameat(d.fd(), from, d.fd(), to)
	if err == unix.EISDIR || err == unix.ENOTEMPTY || err == unix.EEXIST {
		if err := d.RemoveAll(to); err != nil {
			return err
		}
		err = unix.Renameat(d.fd(), from, d.fd(), to)
	}
	if err != nil {
		return d.fail("replace", to, err)
	}
	return nil
}

// Chmod sets the permissions of a regular file that this process's caller has just created.
func (d *Dir) Chmod(name string, mode fs.FileMode) error {
	if err := single(name); err != nil {
		return err
	}
	fd, err := openat(d.fd(), name, unix.O_WRONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_NOCTTY|unix.O_CLOEXEC, 0)
	if err != nil {
		return d.fail("set the permissions of", name, err)
	}
	f := os.NewFile(uintptr(fd), d.path(name))
	defer f.Close()
	return f.Chmod(mode.Perm())
}
