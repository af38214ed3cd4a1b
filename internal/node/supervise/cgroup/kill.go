// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Kill kills every process of the group, and returns when none is left.
//
// With cgroup.kill (v2, Linux 5.14), the kernel kills all of them atomically, including
// processes that are being forked. Otherwise Kill freezes the group first: a frozen group
// cannot fork faster than its list is read.
func (g *Group) Kill(ctx context.Context) error {
	if g.IsZero() {
		return nil
	}
	var atOnce error = errors.ErrUnsupported
	if g.unified != "" {
		atOnce = write(g.unified, "cgroup.kill", "1")
	}
	for wait := 2 * time.Millisecond; ; wait = min(2*wait, 50*time.Millisecond) {
		if atOnce != nil {
			g.killEach()
		}
		left := len(g.Procs())
		if left == 0 {
			return nil
		}
		if err := g.waitEmpty(ctx, wait); err != nil {
			return fmt.Errorf("%d processes of %s do not end: %w", left, g.Dirs()[0], err)
		}
	}
}

func (g *Group) killEach() {
	g.freeze(true)
	for _, pid := range g.Procs() {
		if pid != os.Getpid() {
			unix.Kill(pid, unix.SIGKILL)
		}
	}
	g.freeze(false)
}

// waitEmpty waits until the group is empty, but no longer than d. It returns early if the
// kernel reports it.
func (g *Group) waitEmpty(ctx context.Context, d time.Duration) error {
	if g.unified == "" {
		select {
		case <-time.After(d): // v1 has no such report
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	events, err := os.Open(filepath.Join(g.unified, "cgroup.events"))
	if err != nil {
		return nil // removed, so empty
	}
	defer events.Close()
	// The kernel wakes pollers only if they read the file before.
	b, err := io.ReadAll(events)
	if err != nil || !strings.Contains(string(b), "populated 1") {
		return ctx.Err()
	}
	unix.Poll([]unix.PollFd{{Fd: int32(events.Fd()), Events: unix.POLLPRI}}, int(max(d/time.Millisecond, 1)))
	return ctx.Err()
}

func (g *Group) freeze(on bool) {
	v2, v1 := "0", "THAWED"
	if on {
		v2, v1 = "1", "FROZEN"
	}
	if g.unified != "" {
		write(g.unified, "cgroup.freeze", v2)
	}
	for _, d := range g.v1 {
		write(d, "freezer.state", v1) // exists only in the freezer's directory
	}
}
