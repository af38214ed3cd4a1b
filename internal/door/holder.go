// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package door

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// askKernel returns the process that holds the other end of a connection. It
// looks for the process only where the user alone does not decide: isolated
// tasks may run as root or as the agent's user, and their sockets say no more
// than that.
func (d *Door) askKernel(local, remote netip.AddrPort) (Caller, error) {
	s, err := findSocket(local, remote)
	if err != nil {
		return Caller{}, err
	}
	c := Caller{UID: s.uid}
	own := uint32(os.Geteuid())
	if !slices.Contains(d.users, s.uid) || own != 0 && s.uid != own {
		return c, nil // only root sees what others have open, and only root's agent isolates
	}
	pid, err := findHolder("/proc", s.inode)
	if err != nil {
		return Caller{}, err
	}
	c.Self = pid == os.Getpid()
	c.Isolated = pid == 0
	return c, nil
}

// errNoHolder says that no process was found to have a socket open.
var errNoHolder = errors.New("no process has its socket open")

// findHolder returns a process that has the socket open and shares this one's
// root directory; 0 when only others have it. It begins with the newest: most
// callers are commands that were started just now.
func findHolder(proc string, inode uint32) (pid int, err error) {
	pids, err := processes(proc)
	if err != nil {
		return 0, err
	}
	var root unix.Stat_t
	if err := unix.Stat("/", &root); err != nil {
		return 0, fmt.Errorf("look at the root directory: %w", err)
	}
	link := "socket:[" + strconv.FormatUint(uint64(inode), 10) + "]"
	err = errNoHolder
	for _, pid := range pids {
		dir := filepath.Join(proc, strconv.Itoa(pid))
		if !holds(filepath.Join(dir, "fd"), link) {
			continue
		}
		var other unix.Stat_t
		if unix.Stat(filepath.Join(dir, "root"), &other) == nil && other.Dev == root.Dev && other.Ino == root.Ino {
			return pid, nil
		}
		err = nil
	}
	return 0, err
}

// processes lists process ids, the highest first.
func processes(proc string) ([]int, error) {
	d, err := os.Open(proc)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	defer d.Close()
	names, err := d.Readdirnames(-1)
	if err != nil {
		return nil, fmt.Errorf("list the processes: %w", err)
	}
	var pids []int
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			pids = append(pids, pid)
		}
	}
	slices.Sort(pids)
	slices.Reverse(pids)
	return pids, nil
}

// holds reports whether one of a process's open files is the one of that link.
func holds(dir, link string) bool {
	d, err := os.Open(dir)
	if err != nil {
		return false
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	target := make([]byte, len(link)+1)
	for _, name := range names {
		n, err := unix.Readlinkat(int(d.Fd()), name, target)
		if err == nil && string(target[:n]) == link {
			return true
		}
	}
	return false
}
