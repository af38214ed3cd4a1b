// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cgroup

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A mover makes moves without effect; see Tree.KeepMoving.
type mover struct {
	own func() string // returns the cgroup.procs file of this process's own group; "": there is none

	mu    sync.Mutex
	users int
	stop  chan struct{} // ends the writes of those that want it
}

// moveEvery is shorter than a grace period of a machine on which that wait matters.
const moveEvery = 3 * time.Millisecond

func newMover(l Layout) *mover {
	return &mover{own: func() string { // an operator may move the process
		groups, err := os.ReadFile("/proc/self/cgroup")
		if err != nil {
			return ""
		}
		return ownProcs(l, string(groups))
	}}
}

// ownProcs returns the file of a process's own group, given its /proc/PID/cgroup.
func ownProcs(l Layout, groups string) string {
	for line := range strings.Lines(groups) {
		f := strings.SplitN(strings.TrimSuffix(line, "\n"), ":", 3)
		if len(f) != 3 || strings.Contains(f[2], "..") {
			continue // the group is outside of what this process sees
		}
		mount := l.Unified
		if f[1] != "" {
			first, _, _ := strings.Cut(f[1], ",")
			mount = l.V1[first]
		} else if f[0] != "0" {
			continue
		}
		if mount != "" {
			return filepath.Join(mount, f[2], "cgroup.procs")
		}
	}
	return ""
}

// KeepMoving makes moves of processes between groups fast until release is called, once. The kernel lets a write to
// cgroup.procs wait for a grace period of RCU, 10 to 30 ms, unless another such write has ended less than a grace period
// before. A container runtime makes that write in the middle of its work, and waits; so this process makes writes
// without effect meanwhile.
func (t *Tree) KeepMoving() (release func()) {
	m := t.mover
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users++; m.users == 1 {
		m.stop = make(chan struct{})
		if own := m.own(); own != "" {
			go move(own, m.stop)
		}
	}
	return m.release
}

func (m *mover) release() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.users--; m.users == 0 {
		close(m.stop)
	}
}

// move moves this process to the group that it is in. A failure means that there is nothing to gain here.
func move(own string, stop <-chan struct{}) {
	tick := time.NewTicker(moveEvery)
	defer tick.Stop()
	for {
		if os.WriteFile(own, []byte("0"), 0) != nil {
			return
		}
		select {
		case <-stop:
			return
		case <-tick.C:
		}
	}
}
