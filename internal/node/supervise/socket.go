// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

const (
	socketName  = "supervisor.sock"
	lockName    = "supervisor.lock" // held by the supervisor during its life
	startLock   = "start.lock"      // held by a client that starts a supervisor
	journalName = "tasks.journal"
	outputName  = "supervisor.log"
)

// withSocketPath calls f with a path of dir's socket that fits into a socket address, which
// holds 107 bytes. It reaches longer paths through an open directory.
func withSocketPath(dir string, f func(path string) error) error {
	path := filepath.Join(dir, socketName)
	if len(path) <= 107 {
		return f(path)
	}
	fd, err := unix.Open(dir, unix.O_PATH|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("open %s: %w", dir, err)
	}
	defer unix.Close(fd)
	return f(fmt.Sprintf("/proc/self/fd/%d/%s", fd, socketName))
}

func dialSocket(ctx context.Context, dir string) (conn *net.UnixConn, err error) {
	err = withSocketPath(dir, func(path string) error {
		var d net.Dialer
		c, err := d.DialContext(ctx, "unix", path)
		if err == nil {
			conn = c.(*net.UnixConn)
		}
		return err
	})
	return conn, err
}

func listenSocket(dir string) (ln *net.UnixListener, err error) {
	if err := os.Remove(filepath.Join(dir, socketName)); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	err = withSocketPath(dir, func(path string) error {
		// The socket must never exist with another mode. The umask belongs to the whole
		// process, and no other goroutine runs yet.
		old := unix.Umask(0o177)
		defer unix.Umask(old)
		ln, err = net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
		return err
	})
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	return ln, nil
}
