// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"golang.org/x/sys/unix"
)

// Reaping.
//
// The obvious way, a goroutine in a blocking wait per child, takes an operating
// system thread per task. A poller on pidfds would do without, but then nobody
// reaps the orphans that come here because the supervisor is the subreaper. So
// there is one loop: SIGCHLD wakes it (the runtime merges signals, which is
// fine), and it takes every exit there is.
//
// What can go wrong: a child that ends before its pid is in the table. Its exit
// would be taken for an orphan's and be lost. Therefore makers of processes hold
// forks shared from before the fork until the pid is in the table, and the loop
// holds it exclusively. A child can also not be mistaken for a later one of the
// same pid: the table's entry is taken out in the same critical section in
// which the kernel lets go of the pid. What follows an exit is counted in
// finishing from within that section, so that an upgrade can wait for it.
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
		}
		s.noteEnd(pid, ws)
		s.mu.Unlock()
	}
	s.forks.Unlock()
	for _, f := range ended {
		go f()
	}
}
