// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"time"

	"golang.org/x/sys/unix"
)

// Daemons.
//
// A daemon's process ends with 0 and leaves others behind, which are the task from
// then on: they keep its cgroup, its output and its place in the journal, and
// signals are for all of them. The task ends when none is left.
//
// Who tells when that is? Not the daemon's parents, which have ended. But what
// loses its parent becomes a child of the supervisor, which is the subreaper: so the
// last process of a daemon is always reaped here, whatever it did to leave its
// session. Each exit that is reaped makes those who watch daemons look again.
// That needs no kind of cgroup, and no asking from time to time.
//
// Isolated daemons are kept by the first process of their pid namespace instead;
// see isolate.keep.

// rest is what is left of a daemon. It is guarded by supervisor.mu.
type rest struct {
	seen map[int]uint64  // start times of its processes when they were last looked for, by pid
	last unix.WaitStatus // how one of these ended last
	look chan struct{}   // something has ended
}

func newRest(seen map[int]uint64) *rest { return &rest{seen: seen, look: make(chan struct{}, 1)} }

// lookPause is the least time between two looks at all processes of a machine.
const lookPause = 100 * time.Millisecond

// goOn takes into account that a daemon's process has ended with 0. It reports
// whether it left something behind that goes on; what is being stopped does not.
func (s *supervisor) goOn(t *task) bool {
	seen, _ := s.left(t)
	if len(seen) == 0 {
		return false
	}
	s.mu.Lock()
	if !t.killAt.IsZero() {
		s.mu.Unlock()
		return false
	}
	t.rest = newRest(seen)
	s.rests[t] = true
	st := t.status()
	s.mu.Unlock()
	if err := s.journal.put(st); err != nil {
		s.log.Error("record that a task goes on in the background", "task", t.id, "error", err)
	}
	s.publish(st)
	go s.watchRest(t)
	return true
}

// watchRest ends the task when nothing of it is left.
func (s *supervisor) watchRest(t *task) {
	for {
		seen, clear := s.left(t)
		if len(seen) == 0 && clear {
			break
		}
		s.mu.Lock()
		t.rest.seen = seen
		s.mu.Unlock()
		if len(seen) > 0 {
			<-t.rest.look
		}
		if t.group.IsZero() {
			time.Sleep(lookPause)
		}
	}
	// An upgrade waits for exits that are being dealt with, and this is one.
	s.forks.RLock()
	s.finishing.Add(1)
	s.forks.RUnlock()
	defer s.finishing.Done()
	s.mu.Lock()
	delete(s.rests, t)
	last := t.rest.last
	s.mu.Unlock()
	s.close(t, last)
}

// noteEnd takes note of a process that was reaped. The caller holds mu.
func (s *supervisor) noteEnd(pid int, ws unix.WaitStatus) {
	for t := range s.rests {
		if _, ours := t.rest.seen[pid]; ours {
			t.rest.last = ws
		}
		select {
		case t.rest.look <- struct{}{}:
		default:
		}
	}
}

// left lists the processes of a task other than its first one, which has ended,
// and commands beside it: start times by pid. Without cgroups it is clear only
// if no other process can be of it now.
func (s *supervisor) left(t *task) (seen map[int]uint64, clear bool) {
	var all []procStat
	if clear = true; t.group.IsZero() {
		s.mu.Lock()
		known := map[int]uint64{t.pid: t.startTime}
		if t.rest != nil {
			for pid, start := range t.rest.seen {
				known[pid] = start
			}
		}
		s.mu.Unlock()
		all, clear = walk(t.marker, t.pid, t.startTime, known)
	} else {
		for _, pid := range t.group.Procs() {
			if p, err := readStat(pid); err == nil && p.State != 'Z' && p.State != 'X' {
				all = append(all, p)
			}
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	seen = make(map[int]uint64, len(all))
	for _, p := range all {
		if s.sessions[p.Session] == nil {
			seen[p.PID] = p.StartTime
		}
	}
	return seen, clear
}

// signalRest sends a signal to all that is left of a daemon.
func (s *supervisor) signalRest(t *task, sig unix.Signal) error {
	seen, _ := s.left(t)
	if len(seen) == 0 {
		return ErrTaskEnded
	}
	for pid, start := range seen {
		signalExactly(procStat{PID: pid, StartTime: start}, sig)
	}
	return nil
}

// pidOf is a process of the task; 0 if there is none.
func (s *supervisor) pidOf(t *task) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.rest == nil {
		return t.pid
	}
	for pid, start := range t.rest.seen {
		if alive(pid, start) {
			return pid
		}
	}
	return 0
}
