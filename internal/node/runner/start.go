// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/allocdir"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// start sets a run of the task up and starts it. It returns nil when that did
// not work; events say why.
func (t *task) start(ctx context.Context) driver.Handle {
	r := t.r
	r.mu.Lock()
	t.finding = false
	if t.killed != nil || t.isSuperseded() {
		r.mu.Unlock()
		return nil
	}
	if t.run == 0 {
		t.tell(event(api.EventTaskSetup, "Making the task's directories"))
	}
	t.run++
	startCtx, cancel := context.WithCancel(ctx)
	defer cancel()
	t.starting = cancel
	alloc, group, spec, run := r.alloc, r.group, t.spec, t.run
	saved := r.save() // syncs while the directories are made
	r.host.Changed(r, false)
	r.mu.Unlock()

	h, e := t.create(startCtx, alloc, group, spec, run, saved.Wait)
	if ctx.Err() != nil {
		return nil // the process, if there is one, is found again
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	t.starting = nil
	if h == nil {
		if startCtx.Err() == nil { // not interrupted: this is why
			t.tell(e)
			if e.FailsTask {
				t.change(func(s *api.TaskState) { s.Failed = true })
			}
		}
		return nil
	}
	t.running(h, event(api.EventStarted, "Runs"+processWords(h)))
	return h
}

func processWords(h driver.Handle) string {
	if pid := h.PID(); pid > 0 {
		return " as process " + strconv.Itoa(pid)
	}
	return ""
}

// running takes into account that the task's process exists.
func (t *task) running(h driver.Handle, e *api.TaskEvent) {
	r := t.r
	t.handle, t.ran, t.fresh, t.finding = h, true, false, false
	t.unschedule()
	t.tell(e)
	t.change(func(s *api.TaskState) {
		s.State = api.TaskStateRunning
		s.StartedAt = h.StartedAt()
		if s.StartedAt.IsZero() {
			s.StartedAt = time.Now()
		}
		s.FinishedAt = time.Time{}
	})
	if d, ok := h.(interface{ Background(context.Context) bool }); ok && t.spec.Daemon {
		r.loops.Go(func() {
			if d.Background(r.ctx) {
				r.mu.Lock()
				defer r.mu.Unlock()
				t.tell(message("Its process has ended with 0; what it left in the background is the task now"))
				r.host.Changed(r, false)
			}
		})
	}
	switch { // told to end while it was being started
	case t.killed != nil:
		t.interrupt(*t.killed)
	case t.again != nil:
		t.interrupt(cause{event: api.EventKilling, words: t.again.Words})
	}
	r.limitRun()
	t.limitRun()
	r.advance()
	r.save()
	// The start of a task that is to finish can wait a moment for its end: then
	// one report is enough, and the end's does not wait for the start's.
	r.host.Changed(r, t.spec.Goal == "" || !t.mustSucceed())
}

// create does what a start needs outside the mutex: directories, environment,
// and the driver. recorded waits until the run is on record: a process that
// nobody remembers must not exist.
func (t *task) create(ctx context.Context, a *api.Allocation, g *api.Group, s *api.Task, run int, recorded func() error) (driver.Handle, *api.TaskEvent) {
	h := t.r.host
	d := h.Drivers[s.Driver]
	if d == nil {
		return nil, setupFailure(fmt.Errorf("this node has no driver %q", s.Driver))
	}
	owner, err := allocdir.OwnerOf(ownerName(s))
	if err != nil {
		return nil, setupFailure(err)
	}
	dt := t.driverTask(a, g, s, run)
	if virtual, ok := d.(interface{ WithoutDirs(*driver.Task) bool }); !ok || !virtual.WithoutDirs(dt) {
		if err := h.Dirs.Build(a.ID, s.Name, owner, d.View(dt.Dir).Local == dt.Dir.Local); err != nil {
			return nil, setupFailure(err)
		}
		if p := s.DispatchPayload; p != nil && p.File != "" && a.Job != nil {
			if err := h.Dirs.WritePayload(a.ID, s.Name, p.File, a.Job.Payload, owner); err != nil {
				return nil, setupFailure(err)
			}
		}
	}
	if err := recorded(); err != nil {
		return nil, setupFailure(err)
	}
	handle, err := d.Start(ctx, dt)
	if err != nil {
		e := driverFailure(err)
		var again *driver.RecoverableError
		e.FailsTask = !errors.As(err, &again)
		return nil, e
	}
	return handle, nil
}

// ownerName is the user that a task's directories belong to: the one it runs
// as.
func ownerName(s *api.Task) string {
	if s.User == "" && s.Driver == "exec" {
		return "nobody"
	}
	return s.User
}

func runID(alloc, task string, run int) string {
	return alloc + "/" + task + "/" + strconv.Itoa(run)
}

// driverTask is what the driver needs to know.
func (t *task) driverTask(a *api.Allocation, g *api.Group, s *api.Task, run int) *driver.Task {
	dir := t.r.host.Dirs.Task(a.ID, s.Name)
	env := t.r.host.env(a, g, s, dir)
	dt := &driver.Task{
		ID: runID(a.ID, s.Name, run), AllocID: a.ID, Name: s.Name, Config: env.ReplaceConfig(s.Config), Env: env.List(),
		User: env.Replace(s.User), Dir: dir, Resources: taskenv.Limits(a, s), KillSignal: s.KillSignal, Daemon: s.Daemon,
		Logs: driver.Logs{
			Root:         t.r.host.Dirs.Root(a.ID),
			StdoutPrefix: t.r.host.Dirs.LogDir(a.ID) + "/" + s.Name + ".stdout",
			StderrPrefix: t.r.host.Dirs.LogDir(a.ID) + "/" + s.Name + ".stderr",
			MaxFiles:     10, MaxFileBytes: 10 << 20,
		},
	}
	if l := s.Logs; l != nil {
		if l.MaxFiles != nil {
			dt.Logs.MaxFiles = *l.MaxFiles
		}
		if l.MaxFileSizeMB != nil {
			dt.Logs.MaxFileBytes = int64(*l.MaxFileSizeMB) << 20
		}
		dt.Logs.Disabled = value(l.Disabled)
	}
	return dt
}

func (h *Host) env(a *api.Allocation, g *api.Group, s *api.Task, dir driver.Dir) *taskenv.Env {
	in := taskenv.Input{Node: h.Node(), Alloc: a, Group: g, Task: s, Dir: dir, Host: h.Environ}
	if s != nil && a.Launches != nil && a.Launches.Tasks[s.Name] != nil {
		in.Launch = a.Launches.Tasks[s.Name].Env
	}
	if s != nil && h.Drivers[s.Driver] != nil {
		in.Dir = h.Drivers[s.Driver].View(dir)
		in.Isolated = in.Dir.Local != dir.Local
	}
	return taskenv.Build(in)
}
