// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// requestRestart restarts the task's process, or ends its wait for a restart. It reports
// whether the task accepted the request.
func (t *task) requestRestart(q *request) bool {
	if !t.acceptsRequest() {
		return false
	}
	t.request = q
	words := q.Brief
	if words == "" {
		words = q.Words
	}
	t.interrupt(cause{event: api.EventKilling, message: words})
	return true
}

func (t *task) acceptsRequest() bool {
	return t.stage == stageActive && t.killed == nil && t.request == nil
}

// Restart restarts one task, or every running task if name is "".
func (r *Runner) Restart(name string) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	tasks, err := r.selectTasks(name)
	if err != nil {
		return err
	}
	done := 0
	for _, t := range tasks {
		if t.handle == nil && name == "" {
			continue
		}
		if t.requestRestart(&request{Words: "A user asked for a restart"}) {
			t.addEvent(event(api.EventRestartSignaled, "A user asked for a restart"))
			done++
		}
	}
	if done == 0 {
		return api.Errorf(api.CodeConflict, "restart allocation %s: none of its tasks is running", api.ShortID(r.id))
	}
	r.advance()
	r.save()
	r.host.Changed(r, true)
	return nil
}

// RestartAll stops all tasks and then restarts the whole allocation, including the tasks
// that had already ended.
func (r *Runner) RestartAll() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.ending != nil || r.delayed {
		return api.Errorf(api.CodeConflict, "restart allocation %s: it is ending", api.ShortID(r.id))
	}
	if !r.started {
		return api.Errorf(api.CodeConflict, "restart allocation %s: it has not started", api.ShortID(r.id))
	}
	if r.allDead() {
		return api.Errorf(api.CodeConflict, "restart allocation %s: it has ended; run its job again", api.ShortID(r.id))
	}
	why := cause{event: api.EventRestartSignaled, message: "A user asked for a restart of all tasks"}
	r.ending = &end{why: why, restart: true}
	r.advance()
	r.save()
	r.host.Changed(r, true)
	return nil
}

// restartAllocation starts the allocation's life again, once all tasks have ended.
func (r *Runner) restartAllocation() {
	r.ending = nil
	for _, t := range r.tasks {
		if t.isDone() {
			continue
		}
		t.stage, t.killed, t.request, t.ran, t.interrupted = stageWaiting, nil, nil, false, false
		t.change(func(s *api.TaskState) {
			s.State, s.Failed = api.TaskStatePending, false
			s.Restarts++
			s.LastRestart = time.Now()
		})
	}
	r.advance()
}

// selectTasks returns the named task, or all tasks if name is "".
func (r *Runner) selectTasks(name string) ([]*task, error) {
	if name == "" {
		return r.tasks, nil
	}
	if t := r.task(name); t != nil {
		return []*task{t}, nil
	}
	return nil, r.noTask(name)
}

func (r *Runner) noTask(name string) error {
	names := make([]string, 0, len(r.tasks))
	for _, t := range r.tasks {
		names = append(names, t.name)
	}
	slices.Sort(names)
	return api.Errorf(api.CodeNotFound, "allocation %s has no task %q; it has: %s", api.ShortID(r.id), name, strings.Join(names, ", "))
}

// Signal sends a signal to one task, or to every running task if name is "".
func (r *Runner) Signal(ctx context.Context, name, signal string) error {
	if signal == "" {
		return api.Errorf(api.CodeInvalid, "send a signal: Signal is missing; give a name such as SIGHUP")
	}
	r.mu.Lock()
	tasks, err := r.selectTasks(name)
	handles := map[*task]driver.Handle{}
	for _, t := range tasks {
		if t.handle != nil {
			handles[t] = t.handle
		}
	}
	r.mu.Unlock()
	if err != nil {
		return err
	}
	if len(handles) == 0 {
		return api.Errorf(api.CodeConflict, "signal allocation %s: none of its tasks is running", api.ShortID(r.id))
	}
	var failed []error
	for t, h := range handles {
		if err := h.Signal(ctx, signal); err != nil {
			failed = append(failed, api.Errorf(api.CodeInvalid, "signal task %q: %v", t.name, err))
			continue
		}
		r.mu.Lock()
		e := event(api.EventSignaling, "A user sent "+signal)
		e.TaskSignal, e.TaskSignalReason = signal, "A user sent it"
		t.addEvent(e)
		r.host.Changed(r, true)
		r.mu.Unlock()
	}
	return errors.Join(failed...)
}

// Exec runs a command beside a task. name may be "" if the allocation has one task.
func (r *Runner) Exec(ctx context.Context, name string, e driver.Exec) (int, error) {
	r.mu.Lock()
	if name == "" && len(r.tasks) == 1 {
		name = r.tasks[0].name
	}
	t := r.task(name)
	var h driver.Handle
	if t != nil {
		h = t.handle
	}
	r.mu.Unlock()
	switch {
	case name == "":
		return 0, api.Errorf(api.CodeInvalid, "run a command: task is missing; the allocation has several tasks")
	case t == nil:
		return 0, r.noTask(name)
	case h == nil:
		return 0, api.Errorf(api.CodeConflict, "task %q is not running", name)
	}
	return h.Exec(ctx, e)
}

// Stats measures the running tasks.
func (r *Runner) Stats(ctx context.Context) map[string]driver.Stats {
	r.mu.Lock()
	handles := map[string]driver.Handle{}
	for _, t := range r.tasks {
		if t.handle != nil {
			handles[t.name] = t.handle
		}
	}
	r.mu.Unlock()
	all := map[string]driver.Stats{}
	for name, h := range handles {
		if s, err := h.Stats(ctx); err == nil {
			all[name] = s
		}
	}
	return all
}

// TaskNames returns the names of the allocation's tasks, sorted.
func (r *Runner) TaskNames() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	names := map[string]bool{}
	for _, t := range r.tasks {
		names[t.name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// noDelay reports whether shutdown delays are skipped.
func (r *Runner) noDelay() bool { return value(r.alloc.DesiredTransition.NoShutdownDelay) }

// Update applies a newer version of the allocation from the servers: a stop, a new version of
// the job with the same tasks, or other launches.
func (r *Runner) Update(a *api.Allocation) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if a.AllocModifyIndex < r.alloc.AllocModifyIndex {
		return
	}
	old := r.alloc
	r.alloc = withNetwork(a, old.NetworkStatus)
	if a.DeploymentID != old.DeploymentID {
		r.health.stop()
		r.health, r.deployment = nil, nil
		if a.DeploymentStatus != nil {
			d := *a.DeploymentStatus
			r.deployment = &d
		}
	}
	if a.Job != nil && a.Job != old.Job {
		r.updatingInPlace = true
		defer func() { r.updatingInPlace = false }()
		r.group = groupOf(a)
		for _, t := range r.tasks {
			if spec := r.group.Task(t.name); spec != nil {
				t.spec = spec
				t.armTimeout()
			}
		}
	}
	if !r.started && !a.IsServerTerminal() {
		return // Start applies it
	}
	r.watchHealth()
	if a.IsServerTerminal() {
		r.stop(&end{why: cause{event: api.EventKilling, message: a.DesiredDescription}}, r.noDelay())
		return
	}
	r.advance()
	r.save()
}
