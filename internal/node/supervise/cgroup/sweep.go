// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// Hold marks the tree as in use until this process ends or executes another
// program, so that Sweep of another one leaves it alone.
func (t *Tree) Hold() {
	for _, d := range t.dirs() {
		for range 3 {
			fd, err := unix.Open(d, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
			if err != nil || unix.Flock(fd, unix.LOCK_SH) != nil {
				break
			}
			// Swept just before it was locked? Then it is made again.
			var open, there unix.Stat_t
			if unix.Fstat(fd, &open) == nil && unix.Stat(d, &there) == nil && open.Ino == there.Ino {
				break // and the lock stays with the open file
			}
			unix.Close(fd)
			os.MkdirAll(d, 0o755)
		}
	}
}

// Sweep removes the trees beside this one that nobody holds and that have no
// process: of supervisors that were killed, and whose data directories nobody
// came back to.
func (t *Tree) Sweep() {
	for _, d := range t.dirs() {
		parent := filepath.Dir(d)
		for _, name := range subdirs(parent) {
			if other := filepath.Join(parent, name); other != d {
				sweep(other)
			}
		}
	}
}

func sweep(dir string) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer unix.Close(fd)
	if unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB) != nil {
		return
	}
	for _, d := range tree(dir) {
		os.Remove(d) // fails for one with a process, and for what is above it
	}
}

func (t *Tree) dirs() []string {
	var dirs []string
	for _, d := range append([]string{t.unified}, values(t.v1)...) {
		if d != "" {
			dirs = append(dirs, d)
		}
	}
	return dirs
}
