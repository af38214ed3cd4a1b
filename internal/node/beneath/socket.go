// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"

	"golang.org/x/sys/unix"
)

// Listen creates a unix socket for a user in the directory into, and replaces any file of that name;
// uid -1 leaves it with this process's user. Tasks may write to into, but not to d, which is
// on the same file system: the socket receives its owner and its mode in d, where no task can
// put a link in its place. The path of a socket has at most 107 bytes, so it is bound through the
// directory's handle.
func (d *Dir) Listen(into *Dir, name string, uid, gid int) (*net.UnixListener, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	made := ".socket-" + strings.ToLower(rand.Text())
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: fmt.Sprintf("/proc/self/fd/%d/%s", d.fd(), made), Net: "unix"})
	if err != nil {
		return nil, fmt.Errorf("create socket %s: %w", into.path(name), err)
	}
	l.SetUnlinkOnClose(false) // its name is another one by then
	if err := d.finish(made, into, name, uid, gid); err != nil {
		_ = unix.Unlinkat(d.fd(), made, 0)
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// finish gives a new socket its mode, its owner and its name.
func (d *Dir) finish(made string, into *Dir, name string, uid, gid int) error {
	if err := unix.Fchmodat(d.fd(), made, 0o600, 0); err != nil {
		return d.fail("set the mode of the socket", made, err)
	}
	if err := unix.Fchownat(d.fd(), made, uid, gid, unix.AT_SYMLINK_NOFOLLOW); err != nil {
		return d.fail("give the socket to the task's user", made, err)
	}
	err := unix.Renameat(d.fd(), made, into.fd(), name)
	if err == unix.EISDIR || err == unix.ENOTEMPTY || err == unix.EEXIST {
		if err := into.RemoveAll(name); err != nil {
			return err
		}
		err = unix.Renameat(d.fd(), made, into.fd(), name)
	}
	if err != nil {
		return &fs.PathError{Op: "create socket", Path: into.path(name), Err: err}
	}
	return nil
}
