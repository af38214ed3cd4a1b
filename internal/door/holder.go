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

	"github.com/reeve-run/reeve/internal/socket"
)

// askKernel returns the process that holds the other end of a connection. It searches for the
// process only if the user does not decide alone: isolated tasks may run as root or as the
// agent's user.
func (d *Door) askKernel(local, remote netip.AddrPort) (Process, error) {
	s, err := socket.Find(local, remote)
	if err != nil {
		return Process{}, err
	}
	c := Process{UID: s.UID}
	own := uint32(os.Geteuid())
	if !slices.Contains(d.users, s.UID) || own != 0 && s.UID != own {
		return c, nil // only root sees other processes' files, and only root's agent isolates
	}
	pid, err := findHolder("/proc", s.Inode)
	if err != nil {
		return Process{}, err
	}
	c.Self = pid == os.Getpid()
	c.Isolated = pid == 0
	return c, nil
}

// errNoHolder is returned if no process has a socket open.
var errNoHolder = errors.New("no process has its socket open")

// findHolder returns a process that has the socket open and shares this one's root directory;
// 0 if only other processes have it. It starts with the newest process: most callers are
// commands that were just started.
func findHolder(proc string, inode uint32) (pid int, err error) {
	pids, err := processes(proc)
	if err != nil {
		return 0, err
	}
	var root unix.Stat_t
	if err := unix.Stat("/", &root); err != nil {
		return 0, fmt.Errorf("inspect the root directory: %w", err)
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

// processes returns the process ids, the highest first.
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

// holds reports whether one of a process's open files is the given link.
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
