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
	killTimeout  = 10 * time.Second // for the end of killed processes
	drainTimeout = 2 * time.Second  // for output after the task's last process has ended
)

// A task is a child process of the supervisor, with all its descendants.
type task struct {
	id        string
	marker    string // environment variable of its processes, on machines without cgroups
	pid       int
	startTime uint64
	startedAt time.Time
	isolated  bool
	container bool // started by an OCI runtime; see container.go
	daemon    bool // continues with the processes that it leaves behind; see background.go
	group     *cgroup.Group
	output    [2]*pump
	ended     chan struct{} // closed when exit is final and no process is left

	// supervisor.mu guards the fields below.
	starting bool
	pidfd    int // identifies the process even after it was reaped; -1 when the task has ended
	exit     *ExitState
	killAt   time.Time   // end of Stop's timeout; zero before Stop
	killer   *time.Timer // fires at killAt
	replaced unix.Signal // the signal that SIGKILL replaced
	remains  *remains    // remaining processes of a daemon; nil while its main process runs
}

func (t *task) status() Status {
	return Status{ID: t.id, PID: t.pid, StartTime: t.startTime, StartedAt: t.startedAt, Cgroups: t.group.Dirs(), Exit: t.exit, Background: t.remains != nil}
}

// signal sends a signal to the main process, or to all remaining processes of a daemon in the
// background.
func (s *supervisor) signal(t *task, sig unix.Signal) error {
	s.mu.Lock()
	if t.remains != nil && t.exit == nil {
		s.mu.Unlock()
		return s.signalRemains(t, sig)
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

// killAll kills every process of the task, and returns when none is left.
func (t *task) killAll() error {
	ctx, cancel := context.WithTimeout(context.Background(), killTimeout)
	defer cancel()
	if t.group.IsZero() {
		return killByWalk(ctx, t.marker, t.pid, t.startTime)
	}
	return t.group.Kill(ctx)
}

// stop asks the main process to end, and kills all processes after the timeout. It returns
// when none is left.
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

// killLater kills the task at a time. The caller holds mu.
func (s *supervisor) killLater(t *task, at time.Time) {
	t.killAt = at
	if t.killer != nil {
		t.killer.Stop()
	}
	t.killer = time.AfterFunc(time.Until(at), func() {
		if err := t.killAll(); err != nil {
			s.log.Error("cannot stop task", "task", t.id, "error", err)
		}
	})
}

// finish handles a task whose main process was reaped.
func (s *supervisor) finish(t *task, ws unix.WaitStatus) {
	if t.daemon && ws.Exited() && ws.ExitStatus() == 0 && s.continueInBackground(t) {
		return
	}
	s.close(t, ws)
}

// close ends a task. It records the exit first, so that it cannot be lost.
func (s *supervisor) close(t *task, ws unix.WaitStatus) {
	exit := t.exitState(ws)

	st := t.status()
	st.Exit = exit
	if err := s.journal.put(st); err != nil {
		s.log.Error("cannot record the exit of a task", "task", t.id, "error", err)
	}
	// The task ends with its main process: kill the processes that it left behind. Without a
	// writer, the output is complete.
	if err := t.killAll(); err != nil {
		s.log.Error("cannot end processes that a task left behind", "task", t.id, "error", err)
	}
	for _, p := range t.output {
		p.close(drainTimeout)
	}
	if err := t.group.Remove(); err != nil {
		s.log.Warn("cannot remove cgroup", "task", t.id, "error", err)
	}
	if t.container {
		s.removeContainer(t.id)
	}
	s.mu.Lock()
	t.exit = exit
	if t.pidfd >= 0 {
		unix.Close(t.pidfd)
	}
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
	e := &ExitState{Code: ws.ExitStatus(), At: time.Now(), Background: t.remains != nil}
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

// shutdown stops all tasks. The supervisor ends after the answer is sent. The gate stays
// closed, because a task that starts after the tasks were counted would have no owner.
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
