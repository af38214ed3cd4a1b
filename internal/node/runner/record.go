// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

// A record is the ledger's entry of an allocation. The job is stored separately, by version,
// because many allocations share it.
type record struct {
	Allocation *api.Allocation // without Job
	JobVersion uint64
	JobKey     string `json:",omitempty"`
	Modified   int64
	Deployment *api.AllocDeploymentStatus `json:",omitempty"`
	Tasks      map[string]*taskRecord
	Fenced     string            `json:",omitempty"`
	Launched   *api.LaunchStatus `json:",omitempty"`
	Serving    *api.Serving      `json:",omitempty"`
	Passed     []string          `json:",omitempty"` // checks that passed
	Crashes    *api.Crashes      `json:",omitempty"`
	Warmed     string            `json:",omitempty"` // tasks whose warm-up has ended
}

type taskRecord struct {
	State        *api.TaskState
	Stage        stage
	Ran          bool `json:",omitempty"`
	Run          int  `json:",omitempty"`
	Over         int  `json:",omitempty"`
	Policy       restarts
	HealthySince time.Time            `json:"Well,omitzero"`
	Cut          bool                 `json:",omitempty"`
	Leaving      bool                 `json:",omitempty"`
	Again        *request             `json:",omitempty"`
	Renewals     map[string]time.Time `json:",omitempty"`
	Fetched      bool                 `json:",omitempty"`
	Templates    templateRecord       `json:",omitzero"`
	Images       map[string]string    `json:",omitempty"`
}

// Prefixes of the ledger's keys.
const (
	KeyAllocation = "allocation/"
	KeyJob        = "job/"
)

// JobKey returns the ledger's key of a version of a job. It contains the submit time: after
// a purge, or under servers that lost their state, another job may have the same id,
// version and index.
func JobKey(j *api.Job) string {
	return fmt.Sprintf("%s%s\x00%s\x00%d\x00%d\x00%d", KeyJob, j.Namespace, j.ID, j.Version, j.CreateIndex, j.SubmitTime)
}

// save writes the runner's record to the ledger.
func (r *Runner) save() *ledger.Commit {
	return r.host.Ledger.PutLatest(KeyAllocation+r.id, r.encode)
}

// encode encodes the runner's record.
func (r *Runner) encode() []byte {
	r.mu.Lock()
	a := *r.alloc
	a.Job, a.Metrics, a.TaskStates = nil, nil, nil
	rec := record{Allocation: &a, JobVersion: r.alloc.JobVersion(), JobKey: JobKey(r.alloc.Job), Modified: r.modified, Deployment: r.deployment, Fenced: r.fenced, Launched: r.launched, Serving: r.serving, Passed: r.passingChecks(), Crashes: r.crashes,
		Tasks: make(map[string]*taskRecord, len(r.tasks))}
	if r.warm != nil && r.warm.progress.Done {
		rec.Warmed = r.warm.of
	}
	for _, t := range r.tasks {
		rec.Tasks[t.name] = &taskRecord{State: t.state, Stage: t.stage, Ran: t.ran, Run: t.run, Over: t.recordedRun, Policy: t.policy, HealthySince: t.healthySince,
			Cut: t.interrupted, Leaving: t.leaving, Again: t.request, Renewals: t.renewals, Fetched: t.fetched, Templates: t.templates, Images: t.images}
	}
	r.mu.Unlock()
	data, err := json.Marshal(&rec)
	if err != nil { // every field of a record can be encoded
		r.host.Logger.Error("cannot encode an allocation's record", "allocation", r.id, "error", err)
	}
	return data
}

// Restore makes a runner from the record of an earlier agent. job returns the allocation's
// job; nil if it is missing. Call Resume to find the tasks' processes.
func Restore(h *Host, data []byte, job func(key, namespace, id string, version uint64) *api.Job) (*Runner, error) {
	var rec record
	if err := json.Unmarshal(data, &rec); err != nil {
		return nil, fmt.Errorf("read an allocation's record: %w", err)
	}
	if rec.Allocation == nil || rec.Allocation.ID == "" {
		return nil, errors.New("read an allocation's record: it has no allocation")
	}
	a := rec.Allocation
	if a.Job = job(rec.JobKey, a.Namespace, a.JobID, rec.JobVersion); a.Job == nil {
		return nil, fmt.Errorf("read the record of allocation %s: version %d of its job is missing", a.ID, rec.JobVersion)
	}
	r := New(h, a)
	r.deployment, r.modified, r.fenced, r.launched = rec.Deployment, rec.Modified, rec.Fenced, rec.Launched
	r.crashes = rec.Crashes
	r.serving, r.previouslyPassing = rec.Serving, make(map[string]bool, len(rec.Passed))
	for _, id := range rec.Passed {
		r.previouslyPassing[id] = true
	}
	for _, t := range r.tasks {
		if tr := rec.Tasks[t.name]; tr != nil && tr.State != nil {
			t.state, t.stage, t.ran, t.run, t.recordedRun, t.policy = tr.State, tr.Stage, tr.Ran, tr.Run, tr.Over, tr.Policy
			t.interrupted, t.leaving, t.healthySince, t.request = tr.Cut, tr.Leaving, tr.HealthySince, tr.Again
			t.renewals, t.fetched, t.templates, t.images = tr.Renewals, tr.Fetched, tr.Templates, tr.Images
		}
	}
	if rec.Warmed != "" && rec.Serving != nil && rec.Serving.Warm != nil {
		r.warm = &warmUp{of: rec.Warmed, progress: *rec.Serving.Warm}
	}
	return r, nil
}

// Resume starts a restored runner: it finds the processes of its tasks.
func (r *Runner) Resume() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.started = true
	r.status = clientStatus(r.taskViews())
	for _, t := range r.tasks {
		if t.stage == stageActive && t.state.State == api.TaskStateRunning {
			r.status = api.AllocClientRunning // until the search has a result
		}
	}
	r.description = r.describe(r.status)
	if r.fenced != "" {
		if r.allDead() {
			r.status, r.description = api.AllocClientLost, r.fenced
		} else { // the agent ended before the allocation did
			r.ending = &end{why: cause{event: api.EventKilling, message: r.fenced}}
		}
	}
	for _, t := range r.tasks {
		switch {
		case t.stage == stageActive:
			t.recovering = true
			r.loops.Go(func() { t.resume(r.ctx) })
		case t.run > 0:
			t.cleaningUp = true
			r.loops.Go(func() { t.forgetRun(r.ctx) })
		}
	}
	if r.alloc.IsServerTerminal() && !r.allDead() {
		r.ending = &end{why: cause{event: api.EventKilling, message: r.alloc.DesiredDescription}}
	}
	r.watchHealth()
	if r.ending != nil || r.allDead() || !r.hasActiveTask() {
		r.advance()
	}
}

func (r *Runner) hasActiveTask() bool {
	for _, t := range r.tasks {
		if t.stage == stageActive {
			return true
		}
	}
	return false
}

// resume finds the task's process, or starts one if the recorded run never started.
func (t *task) resume(ctx context.Context) {
	r := t.r
	r.mu.Lock()
	alloc, group, spec, run, ran := r.alloc, r.group, t.spec, t.run, t.state.State == api.TaskStateRunning
	over, wait := t.recordedRun == t.run, t.untilRestart()
	r.mu.Unlock()
	if over { // the recorded run has ended: a first start or a restart follows
		t.forgetRun(ctx)
		if !t.pause(ctx, wait) {
			t.loop(ctx, nil)
		}
		return
	}
	h, err := t.recover(ctx, t.driverTask(alloc, group, spec, run))
	if ctx.Err() != nil {
		return
	}
	if h != nil {
		missing := r.host.Dirs.CheckMount(alloc.ID, spec.Name)
		r.mu.Lock()
		t.handleStarted(h, event(api.EventRestored, "Found again after the agent restarted: runs"+describeProcess(h)))
		if missing != nil {
			t.addEvent(message("Secrets: %v", missing))
		}
		r.mu.Unlock()
		t.loop(ctx, h)
		return
	}
	if !ran && errors.Is(err, driver.ErrTaskUnknown) {
		t.loop(ctx, nil) // the recorded run never started
		return
	}
	t.loop(ctx, lostProcess{driver.Exit{Err: driver.ErrTaskLost, At: time.Now()}})
}

// untilRestart returns the remaining delay before the task's restart.
func (t *task) untilRestart() time.Duration {
	if !t.policy.Next.IsZero() {
		return max(0, time.Until(t.policy.Next))
	}
	events := t.state.Events
	if len(events) == 0 || events[len(events)-1].Type != api.EventRestarting {
		return 0
	}
	last := events[len(events)-1]
	return max(0, time.Until(time.Unix(0, last.Time+last.StartDelay)))
}

// forget makes the driver forget the last run, whose exit is on record. The previous agent
// may have been killed before it did so.
func (t *task) forget(ctx context.Context) {
	r := t.r
	r.mu.Lock()
	alloc, group, spec, run := r.alloc, r.group, t.spec, t.run
	r.mu.Unlock()
	d := r.host.Drivers[spec.Driver]
	if run == 0 || d == nil {
		return
	}
	if h, err := d.Recover(ctx, t.driverTask(alloc, group, spec, run)); err == nil {
		if err := h.Destroy(ctx); err != nil && ctx.Err() == nil {
			r.host.Logger.Warn("cannot clean up after a task", "allocation", r.id, "task", t.name, "error", err)
		}
	}
}

// recover asks the driver for the task's process until the driver knows the answer.
func (t *task) recover(ctx context.Context, dt *driver.Task) (driver.Handle, error) {
	d := t.r.host.Drivers[t.spec.Driver]
	if d == nil {
		return nil, driver.ErrTaskLost
	}
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		h, err := d.Recover(ctx, dt)
		if err == nil || errors.Is(err, driver.ErrTaskLost) || errors.Is(err, driver.ErrTaskUnknown) || ctx.Err() != nil {
			return h, err
		}
		t.r.host.Logger.Warn("cannot look for a task of an earlier agent", "allocation", t.r.id, "task", t.name, "error", err)
		select {
		case <-time.After(wait):
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// A lostProcess stands for a process that was not found.
type lostProcess struct{ exit driver.Exit }

func (g lostProcess) PID() int                                          { return 0 }
func (g lostProcess) StartedAt() time.Time                              { return time.Time{} }
func (g lostProcess) Wait(context.Context) (driver.Exit, error)         { return g.exit, nil }
func (g lostProcess) Signal(context.Context, string) error              { return driver.ErrTaskLost }
func (g lostProcess) Stop(context.Context, string, time.Duration) error { return nil }
func (g lostProcess) Exec(context.Context, driver.Exec) (int, error)    { return 0, driver.ErrTaskLost }
func (g lostProcess) Stats(context.Context) (driver.Stats, error) {
	return driver.Stats{}, driver.ErrTaskLost
}
func (g lostProcess) Destroy(context.Context) error { return nil }
