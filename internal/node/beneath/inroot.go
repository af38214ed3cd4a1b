// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Fd returns the number of the handle, for system calls that this package does not wrap. It is
// valid until Close.
func (d *Dir) Fd() int { return d.fd() }

// InRoot opens a directory as a process would that has d as its root: the path may contain
// links, and neither links nor ".." lead out of d. No other process may change the tree
// meanwhile. An error wraps the kernel's, such as unix.ENOENT.
func (d *Dir) InRoot(path string) (*Dir, error) {
	how := unix.OpenHow{
		Flags:   unix.O_RDONLY | unix.O_DIRECTORY | unix.O_CLOEXEC,
		Resolve: unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS,
	}
	for {
		fd, err := unix.Openat2(d.fd(), path, &how)
		switch err {
		case nil:
			return &Dir{os.NewFile(uintptr(fd), d.path(path))}, nil
		case unix.EINTR, unix.EAGAIN:
			// EAGAIN: a rename anywhere on the machine made the kernel unsure.
			continue
		case unix.ENOSYS:
			err = fmt.Errorf("the kernel lacks openat2, which Linux has since version 5.6: %w", err)
			return nil, d.fail("open directory", path, err)
		}
		return nil, d.fail("open directory", path, err)
	}
}
