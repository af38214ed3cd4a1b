// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"context"
	"fmt"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
)

const (
	killPatience  = 10 * time.Second // for killed processes to be gone
	drainPatience = 2 * time.Second  // for output, once nobody of the task can write any
)

// A task is a process of which the supervisor is the parent, and all that comes
// from it.
type task struct {
	id        string
	marker    string // in the environment of its processes, where there are no cgroups
	pid       int
	startTime uint64
	startedAt time.Time
	isolated  bool
	daemon    bool // what it leaves behind goes on; see background.go
	group     *cgroup.Group
	output    [2]*pump
	ended     chan struct{} // closed when exit is final and nothing of it runs

	// Guarded by supervisor.mu.
	starting bool
	pidfd    int // names the process beyond doubt, also when it is reaped; -1 when ended
	exit     *ExitState
	killAt   time.Time   // when Stop's patience ends; zero: nobody asked
	killer   *time.Timer // fires at killAt
	replaced unix.Signal // the signal in whose stead SIGKILL was sent
	rest     *rest       // what goes on in the background; nil while its process runs
}

func (t *task) status() Status {
	return Status{ID: t.id, PID: t.pid, StartTime: t.startTime, StartedAt: t.startedAt, Cgroups: t.group.Dirs(), Exit: t.exit, Background: t.rest != nil}
}

// signal sends a signal to the main process; to all that is left, when it has
// gone into the background.
func (s *supervisor) signal(t *task, sig unix.Signal) error {
	s.mu.Lock()
	if t.rest != nil && t.exit == nil {
		s.mu.Unlock()
		return s.signalRest(t, sig)
	}
	defer s.mu.Unlock()
	if t.pidfd < 0 {
		return ErrTaskEnded
	}
	if t.isolated && sig != unix.SIGKILL && endsInit(t.pid, sig) {
		t.replaced = sig
		sig = unix.SIGKILL
	}
	err := unix.PidfdSendSignal(t.pidfd, sig, nil, 0)
	switch err {
	case nil:
		return nil
	case unix.ESRCH:
		return ErrTaskEnded
	}
	return fmt.Errorf("send %s: %w", unix.SignalName(sig), err)
}

// killAll ends every process of the task by force, and returns when none is
// left.
func (t *task) killAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), killPatience)
	defer cancel()
	if t.group.IsZero() {
		return killByWalk(ctx, t.marker, t.pid, t.startTime)
	}
	return t.group.Kill(ctx)
}

// stop asks the main process to end, and ends everything by force when timeout
// is over. It returns when nothing is left.
func (s *supervisor) stop(t *task, sig unix.Signal, timeout time.Duration) error {
	at := time.Now().Add(timeout)
	s.mu.Lock()
	if t.exit == nil && (t.killAt.IsZero() || at.Before(t.killAt)) {
		s.killLater(t, at)
	}
	s.mu.Unlock()
	if timeout > 0 && sig != 0 {
		if err := s.signal(t, sig); err != nil && err != ErrTaskEnded {
			return err
		}
	}
	<-t.ended
	return nil
}

// killLater ends the task by force at a time. The caller holds mu.
func (s *supervisor) killLater(t *task, at time.Time) {
	t.killAt = at
	if t.killer != nil {
		t.killer.Stop()
	}
	t.killer = time.AfterFunc(time.Until(at), func() {
		if err := t.killAll(); err != nil {
			s.log.Error("stop task", "task", t.id, "error", err)
		}
	})
}

// finish deals with a task whose main process was reaped.
func (s *supervisor) finish(t *task, ws unix.WaitStatus) {
	if t.daemon && ws.Exited() && ws.ExitStatus() == 0 && s.goOn(t) {
		return
	}
	s.close(t, ws)
}

// close ends a task. The exit is written down first: from then on it cannot be
// lost.
func (s *supervisor) close(t *task, ws unix.WaitStatus) {
	exit := t.exitState(ws)

	st := t.status()
	st.Exit = exit
	if err := s.journal.put(st); err != nil {
		s.log.Error("record exit", "task", t.id, "error", err)
	}
	// The task is over with its main process: what it left behind goes too, and
	// with the last writer gone the output is complete.
	if err := t.killAll(); err != nil {
		s.log.Error("end what a task left behind", "task", t.id, "error", err)
	}
	for _, p := range t.output {
		p.close(drainPatience)
	}
	if err := t.group.Remove(); err != nil {
		s.log.Warn("remove cgroup", "task", t.id, "error", err)
	}
	s.mu.Lock()
	t.exit = exit
	unix.Close(t.pidfd)
	t.pidfd = -1
	t.output = [2]*pump{}
	if t.killer != nil {
		t.killer.Stop()
	}
	s.mu.Unlock()
	close(t.ended)
	s.publish(st)
}

func (t *task) exitState(ws unix.WaitStatus) *ExitState {
	e := &ExitState{Code: ws.ExitStatus(), At: time.Now(), Background: t.rest != nil}
	if ws.Signaled() {
		sig := ws.Signal()
		if sig == unix.SIGKILL && t.replaced != 0 {
			sig = t.replaced
		}
		e.Signal, e.Code = int(sig), 128+int(sig)
	}
	e.OOMKilled = e.Code != 0 && t.group.OOMKills() > 0
	return e
}

// destroy forgets an ended task.
func (s *supervisor) destroy(t *task) error {
	s.mu.Lock()
	if t.exit == nil {
		s.mu.Unlock()
		return fmt.Errorf("task %s still runs", t.id)
	}
	delete(s.tasks, t.id)
	s.mu.Unlock()
	return s.journal.forget(t.id)
}

// shutdown stops all tasks. The supervisor ends when the answer is out. From now on
// the gate is closed: what would be started after the tasks were counted would
// be left without anybody who owns it.
func (s *supervisor) shutdown(timeout time.Duration) {
	s.gate.Lock()
	s.mu.Lock()
	var running []*task
	for _, t := range s.tasks {
		if t.exit == nil {
			running = append(running, t)
		}
	}
	s.mu.Unlock()
	done := make(chan error)
	for _, t := range running {
		go func() { done <- s.stop(t, unix.SIGTERM, timeout) }()
	}
	for range running {
		<-done
	}
}
