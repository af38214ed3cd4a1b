// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"time"

	"golang.org/x/sys/unix"
)

// Daemons.
//
// A daemon's process exits with code 0 and leaves other processes behind, which are the task
// from then on: they keep its cgroup, its output and its entry in the journal, and receive
// its signals. The task ends when none of them is left.
//
// The daemon's parents cannot report that end, because they have exited. But a process that
// loses its parent becomes a child of the supervisor, which is the subreaper: so the last
// process of a daemon is always reaped here, even if it left its session. After each reaped
// exit, the watchers of daemons check again. This needs neither cgroups nor polling.
//
// For isolated daemons, the first process of their pid namespace does this instead; see
// isolate.keep.
// see isolate.keep.

// remains holds the remaining processes of a daemon. supervisor.mu guards it.
type remains struct {
	seen    map[int]uint64  // start times of its processes at the last check, by pid
	last    unix.WaitStatus // last exit of one of these
	changed chan struct{}   // signals that a process has exited
}

func newRemains(seen map[int]uint64) *remains {
	return &remains{seen: seen, changed: make(chan struct{}, 1)}
}

// checkPause is the minimum time between two scans of all processes of a machine.
const checkPause = 100 * time.Millisecond

// continueInBackground handles the exit of a daemon's process with code 0. It reports whether
// the daemon continues with other processes, which is never so while it is being stopped.
func (s *supervisor) continueInBackground(t *task) bool {
	seen, _ := s.left(t)
	if len(seen) == 0 {
		return false
	}
	s.mu.Lock()
	if !t.killAt.IsZero() {
		s.mu.Unlock()
		return false
	}
	t.remains = newRemains(seen)
	s.daemons[t] = true
	st := t.status()
	s.mu.Unlock()
	if err := s.journal.put(st); err != nil {
		s.log.Error("cannot record that a task continues in the background", "task", t.id, "error", err)
	}
	s.publish(st)
	go s.watchRemains(t)
	return true
}

// watchRemains ends the task when none of its processes is left.
func (s *supervisor) watchRemains(t *task) {
	for {
		seen, clear := s.left(t)
		if len(seen) == 0 && clear {
			break
		}
		s.mu.Lock()
		t.remains.seen = seen
		s.mu.Unlock()
		if len(seen) > 0 {
			<-t.remains.changed
		}
		if t.group.IsZero() {
			time.Sleep(checkPause)
		}
	}
	// An upgrade waits until all reaped exits are handled, and this is one.
	s.forks.RLock()
	s.finishing.Add(1)
	s.forks.RUnlock()
	defer s.finishing.Done()
	s.mu.Lock()
	delete(s.daemons, t)
	last := t.remains.last
	s.mu.Unlock()
	s.close(t, last)
}

// noteEnd records a reaped process. The caller holds mu.
func (s *supervisor) noteEnd(pid int, ws unix.WaitStatus) {
	for t := range s.daemons {
		if _, ours := t.remains.seen[pid]; ours {
			t.remains.last = ws
		}
		select {
		case t.remains.changed <- struct{}{}:
		default:
		}
	}
}

// left returns the processes of a task except its first one, which has exited, and commands
// beside it: start times by pid. Without cgroups, clear reports whether no other process can
// belong to the task now.
func (s *supervisor) left(t *task) (seen map[int]uint64, clear bool) {
	var all []procStat
	if clear = true; t.group.IsZero() {
		s.mu.Lock()
		known := map[int]uint64{t.pid: t.startTime}
		if t.remains != nil {
			for pid, start := range t.remains.seen {
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

// signalRemains sends a signal to all remaining processes of a daemon.
func (s *supervisor) signalRemains(t *task, sig unix.Signal) error {
	seen, _ := s.left(t)
	if len(seen) == 0 {
		return ErrTaskEnded
	}
	for pid, start := range seen {
		signalExactly(procStat{PID: pid, StartTime: start}, sig)
	}
	return nil
}

// pidOf returns the pid of a process of the task; 0 if it has none.
func (s *supervisor) pidOf(t *task) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.remains == nil {
		return t.pid
	}
	for pid, start := range t.remains.seen {
		if alive(pid, start) {
			return pid
		}
	}
	return 0
}
