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

// start sets up and starts a run of the task. It returns nil on failure, after it has
// recorded the events that explain the failure.
func (t *task) start(ctx context.Context) driver.Handle {
	r := t.r
	r.mu.Lock()
	t.recovering = false
	if t.killed != nil || t.isSuperseded() {
		r.mu.Unlock()
		return nil
	}
	if t.run == 0 {
		t.addEvent(event(api.EventTaskSetup, "Making the task's directories"))
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
		return nil // Resume finds the process if it exists
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	t.starting = nil
	if h == nil {
		if startCtx.Err() == nil { // failed by itself, without an interruption
			t.addEvent(e)
			if e.FailsTask {
				t.change(func(s *api.TaskState) { s.Failed = true })
			}
		}
		return nil
	}
	t.handleStarted(h, event(api.EventStarted, "Runs"+describeProcess(h)))
	return h
}

func describeProcess(h driver.Handle) string {
	if pid := h.PID(); pid > 0 {
		return " as process " + strconv.Itoa(pid)
	}
	return ""
}

// handleStarted records that the task's process runs.
func (t *task) handleStarted(h driver.Handle, e *api.TaskEvent) {
	r := t.r
	t.handle, t.ran, t.startPending, t.recovering = h, true, false, false
	t.unschedule()
	t.addEvent(e)
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
				t.addEvent(message("Its process has ended with 0; what it left in the background is the task now"))
				r.host.Changed(r, false)
			}
		})
	}
	switch { // the task was told to end during its start
	case t.killed != nil:
		t.interrupt(*t.killed)
	case t.request != nil:
		t.interrupt(cause{event: api.EventKilling, message: t.request.Words})
	}
	r.limitRun()
	t.armTimeout()
	r.advance()
	r.save()
	// The report of a short task's start may wait a moment for its end, so that one report
	// carries both and the report of the end is not delayed.
	r.host.Changed(r, t.spec.Goal == "" || !t.mustSucceed())
}

// create does the part of a start that needs no mutex: directories, environment, and the
// driver's start. recorded waits until the run is on record, because a process that no
// record mentions must not exist.
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
	a, err = t.raiseNetwork(ctx, a, g, d)
	if err != nil {
		e := setupFailure(fmt.Errorf("network: %w", err))
		e.FailsTask = false // the cause is in the node's configuration or in another allocation
		return nil, e
	}
	if t.secrets, err = t.obtainSecrets(ctx, a, g, s); err != nil {
		return nil, secretFailure(err)
	}
	dt := t.driverTask(a, g, s, run)
	mounts, err := h.mounts(ctx, a, g, s)
	if err != nil {
		return nil, setupFailure(err)
	}
	virtual, ok := d.(interface{ WithoutDirs(*driver.Task) bool })
	built := !ok || !virtual.WithoutDirs(dt) || len(s.Templates) > 0 // which need a directory with any driver
	if built {
		layout := allocdir.Layout{Owner: owner, Link: d.View(dt.Dir).Local == dt.Dir.Local, SecretsMB: s.SecretsMB()}
		if err := h.Dirs.Build(a.ID, s.Name, layout); err != nil {
			return nil, setupFailure(err)
		}
		if p := s.DispatchPayload; p != nil && p.File != "" && a.Job != nil {
			if err := h.Dirs.WritePayload(a.ID, s.Name, p.File, a.Job.Payload, owner); err != nil {
				return nil, setupFailure(err)
			}
		}
	}
	env, err := t.obtainIdentities(ctx, a, s, owner)
	if err != nil {
		return nil, setupFailure(err)
	}
	if built {
		if err := t.openSocket(a, s, owner); err != nil {
			return nil, setupFailure(err)
		}
	}
	if e := t.fetchArtifacts(ctx, a, g, s, owner); e != nil {
		return nil, e
	}
	t.own = nil
	rendered, err := t.renderAll(ctx, a, s, h.env(a, g, s, h.Dirs.Task(a.ID, s.Name)), owner)
	if err != nil {
		return nil, setupFailure(err)
	}
	if len(rendered) > 0 {
		dt = t.driverTaskWith(a, g, s, run, rendered)
	}
	dt.Env, dt.Mounts = append(dt.Env, env...), mounts
	if err := h.addDevices(dt, a, s); err != nil {
		return nil, setupFailure(err)
	}
	if err := h.resolve(dt, a, g); err != nil {
		return nil, setupFailure(err)
	}
	if err := recorded(); err != nil {
		return nil, setupFailure(err)
	}
	dt.Notify, dt.Progress = t.notifiers()
	dt.PinImage, dt.Own = t.pinImage(a.ID), t.own
	handle, err := d.Start(ctx, dt)
	if err != nil {
		e := driverFailure(err)
		var again *driver.RecoverableError
		e.FailsTask = !errors.As(err, &again)
		return nil, e
	}
	return handle, nil
}

// ownerName returns the user that owns a task's directories: the one that the task runs as.
func ownerName(s *api.Task) string {
	if s.User == "" && api.ConfinesPrograms(s.Driver) {
		return "nobody"
	}
	if api.RunsImages(s.Driver) {
		return "" // the user is one of the image, which the driver finds
	}
	return s.User
}

// secretsOwner returns the user that owns a running task's secrets. A driver with users of its own has
// given the directory to one of them.
func (t *task) secretsOwner(a *api.Allocation, s *api.Task) (allocdir.Owner, error) {
	if api.RunsImages(s.Driver) {
		return allocdir.OwnerAt(t.r.host.Dirs.Task(a.ID, s.Name).Secrets)
	}
	return allocdir.OwnerOf(ownerName(s))
}

func runID(alloc, task string, run int) string {
	return alloc + "/" + task + "/" + strconv.Itoa(run)
}

// driverTask returns the description of a run for its driver.
func (t *task) driverTask(a *api.Allocation, g *api.Group, s *api.Task, run int) *driver.Task {
	return t.driverTaskWith(a, g, s, run, nil)
}

// driverTaskWith is driverTask with the variables of templates.
func (t *task) driverTaskWith(a *api.Allocation, g *api.Group, s *api.Task, run int, rendered map[string]string) *driver.Task {
	dir := t.r.host.Dirs.Task(a.ID, s.Name)
	env := t.r.host.env(a, g, s, dir)
	env.AddSecrets(t.secrets)
	env.Add(rendered)
	dt := &driver.Task{
		ID: runID(a.ID, s.Name, run), AllocID: a.ID, JobNamespace: a.Namespace, JobID: a.JobID, Name: s.Name, Config: env.ReplaceConfig(s.Config), Env: env.List(),
		User: env.Replace(s.User), Dir: dir, Resources: taskenv.Limits(a, s), KillSignal: s.KillSignal, Daemon: s.Daemon, Ports: taskenv.Ports(a, s),
		Network: t.r.host.networkOf(a.ID, g, s),
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
	in := taskenv.Input{Node: h.Node(), Alloc: a, Group: g, Task: s, Dir: dir, Host: h.Environ, Traffic: h.Traffic}
	if s != nil && a.Launches != nil && a.Launches.Tasks[s.Name] != nil {
		in.Launch = a.Launches.Tasks[s.Name].Env
	}
	if s != nil && h.Drivers[s.Driver] != nil {
		in.Dir = h.Drivers[s.Driver].View(dir)
		in.Isolated = in.Dir.Local != dir.Local
	}
	return taskenv.Build(in)
}
