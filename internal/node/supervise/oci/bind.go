// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package oci

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// openBind returns a detached mount of a source.
func (t *Task) openBind(b Bind) (int, error) {
	fd, err := t.detached(b)
	var attr unix.MountAttr
	if b.ReadOnly {
		attr.Attr_set |= unix.MOUNT_ATTR_RDONLY
	}
	if b.Inert {
		attr.Attr_set |= unix.MOUNT_ATTR_NODEV | unix.MOUNT_ATTR_NOSUID
	}
	if err == nil && attr.Attr_set != 0 {
		if err = unix.MountSetattr(fd, "", recursive(b.Deep), &attr); err != nil {
			unix.Close(fd)
		}
	}
	return fd, err
}

// OpenSource opens the source of a bind, which a task may change at any moment, by a handle.
func OpenSource(b Bind) (int, error) { return openSource(b) }

func (t *Task) detached(b Bind) (int, error) {
	if b.Sysfs {
		return newSysfs()
	}
	from, err := openSource(b)
	if err != nil {
		return -1, err
	}
	defer unix.Close(from)
	return t.clone(from, "", b.Deep, !b.HostIDs)
}

// newSysfs returns a detached sysfs. It shows the network interfaces of the calling thread.
func newSysfs() (int, error) {
	fs, err := unix.Fsopen("sysfs", unix.FSOPEN_CLOEXEC)
	if err != nil {
		return -1, os.NewSyscallError("fsopen", err)
	}
	defer unix.Close(fs)
	if err := unix.FsconfigCreate(fs); err != nil {
		return -1, os.NewSyscallError("fsconfig", err)
	}
	fd, err := unix.Fsmount(fs, unix.FSMOUNT_CLOEXEC, unix.MOUNT_ATTR_NOEXEC)
	return fd, os.NewSyscallError("fsmount", err)
}

// openSource opens a source by a handle. Below a directory in which tasks write, the kernel
// resolves the path, and follows no link that leads out.
func openSource(b Bind) (int, error) {
	if b.WithoutLink {
		how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_SYMLINKS}
		fd, err := unix.Openat2(unix.AT_FDCWD, b.Source, &how)
		if errors.Is(err, unix.ELOOP) {
			return -1, errors.New("it is a symbolic link, or one is on the way")
		}
		return fd, err
	}
	if b.Beneath == "" {
		fd, err := unix.Open(b.Source, unix.O_PATH|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			return -1, errors.New("it does not exist on the node")
		}
		return fd, err
	}
	dir, err := unix.Open(b.Beneath, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	defer unix.Close(dir)
	how := unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS}
	name := strings.TrimPrefix(filepath.Clean(b.Source), "/")
	fd, err := unix.Openat2(dir, name, &how)
	if errors.Is(err, unix.ENOENT) && b.Make {
		if err = makeBelow(dir, name); err == nil {
			fd, err = unix.Openat2(dir, name, &how)
		}
	}
	switch {
	case errors.Is(err, unix.EXDEV) || errors.Is(err, unix.ELOOP):
		return -1, errors.New("the path leads out of the task's directory: a relative source must stay below it")
	case errors.Is(err, unix.ENOENT):
		return -1, errors.New("it does not exist in the task's directory")
	}
	return fd, err
}

// makeBelow creates the directories of a path one by one. It follows no link.
func makeBelow(dir int, name string) error {
	at, err := unix.FcntlInt(uintptr(dir), unix.F_DUPFD_CLOEXEC, 0)
	for part := range strings.SplitSeq(name, "/") {
		if err != nil {
			return err
		}
		if err = unix.Mkdirat(at, part, 0o755); errors.Is(err, unix.EEXIST) {
			err = nil
		}
		next := -1
		if err == nil {
			next, err = unix.Openat(at, part, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
		}
		unix.Close(at)
		at = next
	}
	if err == nil {
		unix.Close(at)
	}
	return err
}

// clone returns a detached copy of the mount at a path. With a user namespace the copy shows
// the owners of its files as that namespace's: the host's root is the container's root.
func (t *Task) clone(dir int, path string, deep, mapped bool) (int, error) {
	flags := uint(unix.OPEN_TREE_CLONE | unix.OPEN_TREE_CLOEXEC)
	if path == "" {
		flags |= unix.AT_EMPTY_PATH
	}
	fd, err := unix.OpenTree(dir, path, flags|recursive(deep))
	if err != nil {
		return -1, err
	}
	if mapped && t.Users != nil {
		attr := unix.MountAttr{Attr_set: unix.MOUNT_ATTR_IDMAP, Userns_fd: uint64(t.Users.Fd())}
		if err := unix.MountSetattr(fd, "", recursive(deep), &attr); err != nil {
			unix.Close(fd)
			return -1, fmt.Errorf("map its owners into the container's user namespace: %w: set userns_mode = \"host\" for the task, or move the files to a file system with idmapped mounts", err)
		}
	}
	return fd, nil
}

func recursive(deep bool) uint {
	if deep {
		return unix.AT_EMPTY_PATH | unix.AT_RECURSIVE
	}
	return unix.AT_EMPTY_PATH
}

// attach mounts a detached mount at a new path of the stage.
func attach(fd int, path string) error {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	var err error
	if st.Mode&unix.S_IFMT == unix.S_IFDIR {
		err = os.Mkdir(path, 0o755)
	} else {
		err = os.WriteFile(path, nil, 0o644)
	}
	if err != nil {
		return err
	}
	if err := unix.MoveMount(fd, "", unix.AT_FDCWD, path, unix.MOVE_MOUNT_F_EMPTY_PATH); err != nil {
		return fmt.Errorf("attach %s: %w", strconv.Quote(path), err)
	}
	return nil
}

// makeNode makes a copy of a device that a user of the container owns. A user namespace could not
// make it.
func (t *Task) makeNode(b Bind, path string) error {
	var st unix.Stat_t
	if err := unix.Stat(b.Source, &st); err != nil {
		return err
	}
	if kind := st.Mode & unix.S_IFMT; kind != unix.S_IFCHR && kind != unix.S_IFBLK {
		return errors.New("it is not a device")
	}
	if err := unix.Mknod(path, st.Mode, int(st.Rdev)); err != nil {
		return err
	}
	mode := st.Mode & 0o777
	if b.Mode != 0 {
		mode = b.Mode
	}
	if err := unix.Chmod(path, mode); err != nil || t.Spec.IDs == nil {
		return err
	}
	return unix.Chown(path, int(t.Spec.IDs.First+b.UID), int(t.Spec.IDs.First+b.GID))
}
