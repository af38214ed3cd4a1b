// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package beneath works on files below directories that tasks can write to, for a process
// that has more rights than the tasks.
//
// A task can replace any name that this process is about to use: by a link to a file of the
// host, by a pipe that blocks its reader, or by a hard link to another file. It can do so
// between a check of the name and its use. Therefore three rules hold:
//
//   - A path is walked component by component, from a handle of a directory that
//     no task can move, and no symbolic link is followed. (openat2 does the same
//     with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; this walk also works on kernels
//     and under filters that lack openat2.)
//   - Opened files are checked by their handles, never by their names.
//   - No open waits for another process.
//
// Reads for users who may read the whole allocation go through an os.Root instead, which
// follows links that stay inside; see File and List.
package beneath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrOccupied is returned for a name of an object that this process did not create, or that
// has another type.
var ErrOccupied = errors.New("something else is in its place")

// errNotDirectory is ErrOccupied for the name of a directory.
type errNotDirectory struct{}

func (errNotDirectory) Error() string { return "something that is not a directory is in its place" }

func (errNotDirectory) Is(target error) bool { return target == ErrOccupied }

// A Dir is the handle of a directory. It refers to the same directory even after a task
// moves it.
type Dir struct{ f *os.File }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// Open opens a directory that no task can move or replace. It follows links on the way.
func Open(path string) (*Dir, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Dir{os.NewFile(uintptr(fd), path)}, nil
}

// Close closes the handle.
func (d *Dir) Close() error { return d.f.Close() }

func (d *Dir) fd() int { return int(d.f.Fd()) }

func (d *Dir) path(name string) string { return d.f.Name() + "/" + name }

// fail adds the file's name to an error.
func (d *Dir) fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: d.path(name), Err: err}
}

// single rejects a name that does not denote one entry.
func single(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is not the name of a file", name)
	}
	return nil
}

// Dir opens a directory below d; name has components separated by slashes.
func (d *Dir) Dir(name string) (*Dir, error) {
	at := d
	for part := range strings.SplitSeq(name, "/") {
		next, err := at.child(part)
		if at != d {
			at.Close()
		}
		if err != nil {
			return nil, err
		}
		at = next
	}
	return at, nil
}

func (d *Dir) child(name string) (*Dir, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	fd, err := openat(d.fd(), name, dirFlags, 0)
	switch err {
	case nil:
		return &Dir{os.NewFile(uintptr(fd), d.path(name))}, nil
	case unix.ELOOP, unix.ENOTDIR: // a link or another file
		err = errNotDirectory{}
	}
	return nil, d.fail("open directory", name, err)
}

// Make opens a directory, and creates it with exactly that mode if it does not exist.
func (d *Dir) Make(name string, mode fs.FileMode) (*Dir, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	err := unix.Mkdirat(d.fd(), name, uint32(mode.Perm()))
	if err != nil && err != unix.EEXIST {
		return nil, d.fail("create directory", name, err)
	}
	made := err == nil
	child, err := d.child(name)
	if errors.Is(err, ErrOccupied) {
		return nil, d.fail("create directory", name, errNotDirectory{})
	}
	if err != nil || !made || mode == mode.Perm()&^umask() {
		return child, err
	}
	if err := child.f.Chmod(mode); err != nil {
		child.Close()
		return nil, err
	}
	return child, nil
}

// Chown gives the directory to a user.
func (d *Dir) Chown(uid, gid int) error { return d.f.Chown(uid, gid) }

// Link creates a symbolic link if the name is free.
func (d *Dir) Link(to, name string) error {
	if err := single(name); err != nil {
		return err
	}
	if err := unix.Symlinkat(to, d.fd(), name); err != nil && err != unix.EEXIST {
		return d.fail("link", name, err)
	}
	return nil
}

// Chown gives a directory to a user. No task may control its parents; a task may control
// the directory itself.
func Chown(path string, uid, gid int) error {
	fd, err := unix.Open(path, dirFlags, 0)
	if err != nil {
		return &fs.PathError{Op: "open directory", Path: path, Err: err}
	}
	defer unix.Close(fd)
	if err := unix.Fchown(fd, uid, gid); err != nil {
		return &fs.PathError{Op: "change the owner of", Path: path, Err: err}
	}
	return nil
}

// openat repeats calls that a signal interrupted.
func openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	for {
		if fd, err = unix.Openat(dir, name, flags, mode); err != unix.EINTR {
			return fd, err
		}
	}
}
