// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package supervise

import (
	"errors"
	"fmt"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/reeve-run/reeve/internal/node/supervise/cgroup"
	"github.com/reeve-run/reeve/internal/node/supervise/isolate"
	"github.com/reeve-run/reeve/internal/node/supervise/step"
)

// start starts a task's process.
func (s *supervisor) start(r startRequest) (Status, error) {
	s.gate.RLock()
	defer s.gate.RUnlock()
	spec := &r.Spec
	t := &task{id: spec.ID, marker: markerOf(s.dir, spec.ID), startedAt: time.Now(), isolated: spec.Isolation != nil || spec.Container != nil,
		daemon: spec.Daemon && spec.Isolation == nil && spec.Container == nil, container: spec.Container != nil, ended: make(chan struct{}), starting: true, pidfd: -1}
	s.mu.Lock()
	if old := s.tasks[t.id]; old != nil {
		defer s.mu.Unlock()
		if !r.Again || old.starting {
			return Status{}, fmt.Errorf("task %s exists already", t.id)
		}
		return old.status(), nil
	}
	s.tasks[t.id] = t
	s.mu.Unlock()
	if err := s.launch(t, spec); err != nil {
		s.mu.Lock()
		delete(s.tasks, t.id)
		s.watchIdle()
		s.mu.Unlock()
		return Status{}, errors.Join(err, s.journal.forget(t.id))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	t.starting = false
	return t.status(), nil
}

func (s *supervisor) launch(t *task, spec *Spec) (err error) {
	var limits cgroup.Limits
	if spec.Limits != (Limits{}) {
		limits = cgroup.Limits(spec.Limits)
	}
	if t.group, err = s.tree.Create(groupName(t.id), limits); err != nil {
		return err
	}
	if err := s.journal.put(t.status()); err != nil {
		t.group.Remove()
		return err
	}
	files, err := s.openOutput(t, spec)
	defer func() {
		for _, fd := range files {
			unix.Close(fd)
		}
	}()
	if err == nil {
		run := s.fork
		if t.container {
			run = s.forkContainer
		}
		err = run(t, spec, files)
	}
	if err != nil {
		for _, p := range t.output {
			p.close(0)
		}
		if t.container { // the runtime may have failed halfway
			err = errors.Join(err, t.killAll())
			s.removeContainer(t.id)
		}
		t.group.Remove()
	}
	return err
}

// openOutput creates the pipes of a task's output, and returns their writing ends.
func (s *supervisor) openOutput(t *task, spec *Spec) (writers []int, err error) {
	if spec.Logs.Disabled || spec.Logs.StdoutPrefix == "" {
		return nil, nil
	}
	for i, prefix := range []string{spec.Logs.StdoutPrefix, spec.Logs.StderrPrefix} {
		r, w, err := pipe()
		if err != nil {
			return writers, fmt.Errorf("make a pipe for the task's output: %w", err)
		}
		writers = append(writers, w)
		if spec.User != nil {
			// So that the task can open /dev/stdout.
			unix.Fchown(w, int(spec.User.UID), int(spec.User.GID))
		}
		t.output[i] = newPump(r, newLogFile(spec.Logs, prefix, s.log))
	}
	return writers, nil
}

// fork creates the process, and returns when it runs the program.
func (s *supervisor) fork(t *task, spec *Spec, output []int) error {
	p := process{
		path: spec.Path, argv: spec.Argv, env: spec.Env, dir: spec.Dir, user: spec.User, group: t.group,
		stdio: [3]int{int(s.devNull.Fd()), int(s.devNull.Fd()), int(s.devNull.Fd())},
	}
	cores, err := coreSet(spec.Limits.Cores)
	if err != nil {
		return err
	}
	p.cores = cores
	if len(output) == 2 {
		p.stdio[1], p.stdio[2] = output[0], output[1]
	}
	if t.group.IsZero() {
		p.env = append(p.env, t.marker)
	}
	var report *os.File
	word := stepFor(spec.Isolation, t.group, step.Init)
	if word == "" && spec.OOMScore > 0 {
		word = step.Join
	}
	if word != "" {
		var err error
		p.oomScore = spec.OOMScore
		if report, err = p.step(word, spec.Isolation, spec.Daemon && spec.Isolation != nil); err != nil {
			return err
		}
		defer report.Close()
		defer p.closeExtra()
		if word == step.Init {
			p.attr.Cloneflags = isolate.CloneFlags(spec.Isolation)
		}
	}
	leave, err := p.joinNetwork(spec.Network)
	if err != nil {
		return err
	}
	defer leave()
	known := make(chan struct{}) // closed when the outcome of the start is known
	failed := false
	err = s.spawn(&p, func(pid, pidfd int) {
		t.pid, t.pidfd = pid, pidfd
	}, func(ws unix.WaitStatus) {
		<-known
		if !failed {
			s.finish(t, ws)
		}
	})
	if err != nil {
		return startError(spec, err)
	}
	defer close(known)
	if st, err := readStat(t.pid); err == nil {
		t.startTime = st.StartTime
	}
	// Write this record before that of the exit, which waits for known.
	err = s.journal.put(t.status())
	if err == nil && report != nil {
		p.closeExtra()
		err = readReport(report)
	}
	if err != nil {
		failed = true
		t.killAll()
		s.mu.Lock()
		unix.Close(t.pidfd)
		t.pid, t.pidfd = 0, -1
		s.mu.Unlock()
	}
	return err
}

// startError explains to a user why a program could not be executed.
func startError(spec *Spec, err error) error {
	switch {
	case errors.Is(err, unix.ENOENT):
		if _, statErr := os.Stat(spec.Dir); statErr != nil {
			return fmt.Errorf("working directory %s does not exist", spec.Dir)
		}
		if _, statErr := os.Stat(spec.Path); statErr == nil {
			return fmt.Errorf("cannot run %s: the interpreter or loader that it names does not exist", spec.Path)
		}
		return fmt.Errorf("command not found: %s", spec.Path)
	case errors.Is(err, unix.EACCES):
		return fmt.Errorf("permission denied: %s cannot be executed by the task's user, or working directory %s cannot be entered", spec.Path, spec.Dir)
	case errors.Is(err, unix.ENOEXEC):
		return fmt.Errorf("cannot run %s: it is neither a program for this machine nor a script with a #! line", spec.Path)
	case errors.Is(err, unix.EPERM) && spec.User != nil:
		return fmt.Errorf("cannot run %s as user %d: the agent does not run as root", spec.Path, spec.User.UID)
	}
	return fmt.Errorf("run %s: %w", spec.Path, err)
}
