// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package beneath

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"strings"
	"syscall"

	"golang.org/x/sys/unix"
)

// Listen creates a unix socket for a user in the directory, and replaces any file of that name; uid -1 leaves
// it with this process's user. A task may write to the directory: the socket has its mode from the beginning,
// and gets its owner through a handle, so that nothing that the task puts in its place gets either. The path
// of a socket has at most 107 bytes, so it is bound through the directory's handle.
func (d *Dir) Listen(name string, uid, gid int) (*net.UnixListener, error) {
	if err := single(name); err != nil {
		return nil, err
	}
	made := ".socket-" + strings.ToLower(rand.Text())
	config := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) error {
		var failed error
		err := c.Control(func(fd uintptr) { failed = unix.Fchmod(int(fd), 0o600) })
		return errors.Join(err, failed)
	}}
	l, err := config.Listen(context.Background(), "unix", fmt.Sprintf("/proc/self/fd/%d/%s", d.fd(), made))
	if err != nil {
		return nil, fmt.Errorf("create socket %s: %w", d.path(name), err)
	}
	socket := l.(*net.UnixListener)
	socket.SetUnlinkOnClose(false) // its name is another one by then
	if err := d.finish(made, name, uid, gid); err != nil {
		_ = unix.Unlinkat(d.fd(), made, 0)
		return nil, errors.Join(err, l.Close())
	}
	return socket, nil
}

// finish gives a new socket its owner and its name.
func (d *Dir) finish(made, name string, uid, gid int) error {
	fd, err := openat(d.fd(), made, unix.O_PATH|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return d.fail("open the socket", made, err)
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return d.fail("check the socket", made, err)
	}
	if st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return d.fail("check the socket", made, ErrOccupied)
	}
	if err := unix.Fchownat(fd, "", uid, gid, unix.AT_EMPTY_PATH); err != nil {
		return d.fail("give the socket to the task's user", made, err)
	}
	err = unix.Renameat(d.fd(), made, d.fd(), name)
	if err == unix.EISDIR || err == unix.ENOTEMPTY || err == unix.EEXIST {
		if err := d.RemoveAll(name); err != nil {
			return err
		}
		err = unix.Renameat(d.fd(), made, d.fd(), name)
	}
	if err != nil {
		return &fs.PathError{Op: "create socket", Path: d.path(name), Err: err}
	}
	return nil
}
