// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// makeHeld creates a directory and marks it as in use until this process ends or executes
// another program, so that Sweep of another tree skips it. If it is swept before it is
// marked, makeHeld creates it again.
func makeHeld(dir string) error {
	for {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			return err
		}
		fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
		if errors.Is(err, unix.ENOENT) {
			continue
		}
		if err != nil || unix.Flock(fd, unix.LOCK_SH) != nil {
			return nil // usable, though not marked
		}
		var open, there unix.Stat_t
		if unix.Fstat(fd, &open) == nil && unix.Stat(dir, &there) == nil && open.Ino == there.Ino {
			return nil // the lock lasts as long as the open file
		}
		unix.Close(fd)
	}
}

// Sweep removes sibling trees that are not in use and have no process: they belonged to
// supervisors that were killed, and whose data directories are no longer used.
func (t *Tree) Sweep() {
	for _, d := range t.dirs() {
		parent := filepath.Dir(d)
		for _, name := range subdirs(parent) {
			if other := filepath.Join(parent, name); other != d {
				sweep(other)
			}
		}
	}
	t.sweepOthers()
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
		os.Remove(d) // fails for directories with a process, and for their parents
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
