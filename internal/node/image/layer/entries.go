// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package layer

import (
	"archive/tar"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/beneath"
)

func (u *unpacker) directory(in *beneath.Dir, base, path string, h *tar.Header) error {
	if err := u.budget.directory(path); err != nil {
		return err
	}
	opaque := false
	kind, err := kindOf(in, base)
	if err == nil && kind != unix.S_IFDIR {
		opaque, err = u.replace(in, base)
	}
	if err != nil {
		return err
	}
	d, err := in.Make(base, 0o755)
	if err != nil {
		return err
	}
	defer d.Close()
	if opaque {
		if err := u.setOpaque(d); err != nil {
			return err
		}
	}
	u.dirs = append(u.dirs, dirTime{path, h.ModTime})
	return u.setDir(d, h)
}

func (u *unpacker) setDir(d *beneath.Dir, h *tar.Header) error {
	mode := h.Mode
	if !u.privileged {
		mode |= 0o700 // this process still has to create the directory's entries
	}
	if err := u.setOwnerAndMode(d.Fd(), h, mode); err != nil {
		return err
	}
	return u.setXattrs(d.Fd(), h)
}

func (u *unpacker) file(in *beneath.Dir, base string, h *tar.Header) error {
	// Sparse files count with their full length, because their holes are written.
	if h.Size < 0 {
		return errors.New("the size is negative")
	}
	if h.Size > u.budget.limits.Bytes {
		return u.budget.Bytes(h.Size)
	}
	size := (h.Size + block - 1) / block * block
	u.size.Bytes += size
	if err := u.budget.Bytes(size); err != nil {
		return err
	}
	if _, err := u.replace(in, base); err != nil {
		return err
	}
	fd, err := unix.Openat(in.Fd(), base, unix.O_WRONLY|unix.O_CREAT|unix.O_EXCL|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0o600)
	if err != nil {
		return &fs.PathError{Op: "create", Path: base, Err: err}
	}
	f := os.NewFile(uintptr(fd), base)
	err = u.fill(f, h)
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return err
	}
	return setTime(in, base, h.ModTime)
}

func (u *unpacker) fill(f *os.File, h *tar.Header) error {
	for {
		n, err := u.tar.Read(u.buf)
		if n > 0 {
			if _, err := f.Write(u.buf[:n]); err != nil {
				return err
			}
		}
		if err == io.EOF {
			break
		}
		if err != nil {
			return fmt.Errorf("read the content: %w", err)
		}
	}
	// A write and a change of the owner clear setuid bits and capabilities, so these follow.
	if err := u.setOwnerAndMode(int(f.Fd()), h, h.Mode); err != nil {
		return err
	}
	return u.setXattrs(int(f.Fd()), h)
}

func (u *unpacker) symlink(in *beneath.Dir, base string, h *tar.Header) error {
	if err := u.budget.path("the link's target", h.Linkname); err != nil {
		return err
	}
	if _, err := u.replace(in, base); err != nil {
		return err
	}
	if err := unix.Symlinkat(h.Linkname, in.Fd(), base); err != nil {
		return &fs.PathError{Op: "link", Path: base, Err: err}
	}
	return u.setLinkOwner(in, base, h)
}

func (u *unpacker) fifo(in *beneath.Dir, base string, h *tar.Header) error {
	if _, err := u.replace(in, base); err != nil {
		return err
	}
	if err := unix.Mknodat(in.Fd(), base, unix.S_IFIFO|0o600, 0); err != nil {
		return &fs.PathError{Op: "create pipe", Path: base, Err: err}
	}
	if err := unix.Fchmodat(in.Fd(), base, uint32(h.Mode)&0o777, 0); err != nil {
		return fmt.Errorf("set the mode: %w", err)
	}
	return u.setLinkOwner(in, base, h)
}

// setLinkOwner sets the owner and the time of an entry that has no handle.
func (u *unpacker) setLinkOwner(in *beneath.Dir, base string, h *tar.Header) error {
	if u.privileged {
		if err := unix.Fchownat(in.Fd(), base, h.Uid, h.Gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
			return fmt.Errorf("set the owner: %w", err)
		}
	}
	return setTime(in, base, h.ModTime)
}

func (u *unpacker) hardLink(in *beneath.Dir, base string, h *tar.Header) error {
	dir, name, err := u.locate("the link's target", h.Linkname)
	if err != nil {
		return err
	}
	if name == "" {
		return errors.New("the link's target is the layer's root")
	}
	from, err := u.root.InRoot("/" + dir)
	if err != nil {
		return fmt.Errorf("find the link's target: %w", err)
	}
	defer from.Close()
	var target, old unix.Stat_t
	if err := unix.Fstatat(from.Fd(), name, &target, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return fmt.Errorf("the link's target %s is not in the same layer: %w", shorten(h.Linkname), err)
	}
	switch target.Mode & unix.S_IFMT {
	case unix.S_IFREG, unix.S_IFLNK, unix.S_IFIFO:
	default:
		return fmt.Errorf("the link's target %s is a directory or was removed", shorten(h.Linkname))
	}
	err = unix.Fstatat(in.Fd(), base, &old, unix.AT_SYMLINK_NOFOLLOW)
	if err == nil && old.Ino == target.Ino && old.Dev == target.Dev {
		return nil // it has this name already; removing it first would lose the target
	}
	// Removing a directory could remove the target inside of it: then the link fails.
	if _, err := u.replace(in, base); err != nil {
		return err
	}
	if err := unix.Linkat(from.Fd(), name, in.Fd(), base, 0); err != nil {
		return &fs.PathError{Op: "link", Path: base, Err: err}
	}
	return nil
}
