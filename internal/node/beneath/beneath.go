// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package beneath works on files below directories that tasks can write to, for
// a process that has more rights than the tasks.
//
// A task can put anything in the place of a name that this process is about to
// use: a link to a file of the host, a pipe that blocks whoever opens it, a
// second name of another file. It can do so between a look at the name and its
// use. So three rules hold here:
//
//   - A path is walked component by component, from a handle of a directory that
//     no task can move, and no symbolic link is followed. (This is what openat2
//     does with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS; it works on kernels and
//     below filters that lack openat2.)
//   - What was opened is checked by its handle, never by its name.
//   - No open waits for another process.
//
// Reading, for users who may read all of an allocation anyway, goes through an
// os.Root instead, which follows links that stay inside; see File and List.
package beneath

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"golang.org/x/sys/unix"
)

// ErrOccupied is returned for a name that something else has: what is there was
// not made by this process, or is of another kind.
var ErrOccupied = errors.New("something else is in its place")

// errNotDirectory is the ErrOccupied of a directory's name.
type errNotDirectory struct{}

func (errNotDirectory) Error() string { return "something that is not a directory is in its place" }

func (errNotDirectory) Is(target error) bool { return target == ErrOccupied }

// A Dir is the handle of a directory. It stays that directory's, wherever a task
// moves it.
type Dir struct{ f *os.File }

const dirFlags = unix.O_RDONLY | unix.O_DIRECTORY | unix.O_NOFOLLOW | unix.O_CLOEXEC

// Open opens a directory that no task can move or replace. Links on the way to
// it are followed.
func Open(path string) (*Dir, error) {
	fd, err := unix.Open(path, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return nil, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return &Dir{os.NewFile(uintptr(fd), path)}, nil
}

// Close gives the handle back.
func (d *Dir) Close() error { return d.f.Close() }

func (d *Dir) fd() int { return int(d.f.Fd()) }

func (d *Dir) path(name string) string { return d.f.Name() + "/" + name }

// fail names the file that an error is about.
func (d *Dir) fail(op, name string, err error) error {
	return &fs.PathError{Op: op, Path: d.path(name), Err: err}
}

// single refuses what is not the name of one entry.
func single(name string) error {
	if name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\x00") {
		return fmt.Errorf("%q is not the name of a file", name)
	}
	return nil
}

// Dir opens a directory below; name has components separated by slashes.
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
	case unix.ELOOP, unix.ENOTDIR: // a link, or another file
		err = errNotDirectory{}
	}
	return nil, d.fail("open directory", name, err)
}

// Make opens the directory of that name, and creates it with exactly that mode
// if there is none.
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

// Link makes a symbolic link, unless there is something of that name.
func (d *Dir) Link(to, name string) error {
	if err := single(name); err != nil {
		return err
	}
	if err := unix.Symlinkat(to, d.fd(), name); err != nil && err != unix.EEXIST {
		return d.fail("link", name, err)
	}
	return nil
}

// Chown gives a directory to a user. The way to its parent leads through nothing
// that a task can replace; the directory's own name may be a task's to replace.
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

// openat repeats what a signal interrupted.
func openat(dir int, name string, flags int, mode uint32) (fd int, err error) {
	for {
		if fd, err = unix.Openat(dir, name, flags, mode); err != unix.EINTR {
			return fd, err
		}
	}
}
