// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"golang.org/x/sys/unix"
)

// Reaping.
//
// A goroutine in a blocking wait for each child would need an operating system thread per
// task. A poller on pidfds would not, but then the orphans that the supervisor adopts as the
// subreaper would not be reaped. So one loop reaps all children: SIGCHLD wakes it (the
// runtime may merge signals), and it takes every available exit.
//
// A child may exit before its pid is in the table. Its exit would be taken for an orphan's,
// and be lost. Therefore every fork holds forks shared until the pid is in the table, and
// the loop holds it exclusively. A child can also not be mistaken for a later one with the
// same pid: the entry is removed in the critical section in which the kernel frees the pid.
// Within that section, finishing counts the handling of each exit, so that an upgrade can
// wait for it.
func (s *supervisor) reap() {
	var ended []func()
	s.forks.Lock()
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, unix.WNOHANG, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || pid <= 0 {
			break
		}
		s.mu.Lock()
		if f := s.children[pid]; f != nil {
			delete(s.children, pid)
			s.finishing.Add(1)
			ended = append(ended, func() { defer s.finishing.Done(); f(ws) })
		} else if s.adopting > 0 {
			s.orphans[pid] = ws
		}
		s.noteEnd(pid, ws)
		s.mu.Unlock()
	}
	s.forks.Unlock()
	for _, f := range ended {
		go f()
	}
}
