// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/ledger"
)

// Launches let the servers steer the tasks inside an allocation: see api.Launch. The
// allocation holds the desired launches, and each task's state holds the token of the
// launch that it last followed. Both are on record, so after a crash the next agent finds
// the same difference between them.
//
// A run under a new token takes these steps. The allocation with the new launch is
// recorded; then the process receives the signal to end. Its exit is recorded, and with the
// same write the new token and the fact that the task waits; then the driver removes the
// remains of the old run. The number of the new run is recorded before its process may
// exist. An agent that is killed between any two steps finds the process of the old run
// (and continues from there), or its recorded exit, or the new run with or without a
// process. No token ever has two processes, and no launch is lost.

// launch returns the task's desired launch; nil if the task simply runs with its allocation.
func (t *task) launch() *api.Launch {
	if l := t.r.alloc.Launches; l != nil {
		return l.Tasks[t.name]
	}
	return nil
}

func (t *task) launchedAs(is func(*api.Launch) bool) bool {
	l := t.launch()
	return l != nil && is(l)
}

// isUnlaunched reports whether the task waits for its first launch.
func (t *task) isUnlaunched() bool {
	return t.stage == stageWaiting && t.launchedAs(func(l *api.Launch) bool { return l.Token == "" && !l.Hold })
}

// isAwaited reports whether the task waits for a launch without which the allocation is
// incomplete.
func (t *task) isAwaited() bool { return t.isUnlaunched() && t.launch().Await }

// isHeld reports whether the task must not run until its hold is released.
func (t *task) isHeld() bool {
	return t.stage != stageDead && t.launchedAs(func(l *api.Launch) bool { return l.Hold })
}

// isIdle reports whether the task waits for a custom plan to run it, and nothing else waits
// for the task.
func (t *task) isIdle() bool {
	return t.isUnlaunched() && !t.launch().Await || t.stage == stageWaiting && t.isHeld() && t.launch().Alone
}

// isSuperseded reports whether the current run must end, because the task is held or another
// launch replaces it.
func (t *task) isSuperseded() bool {
	return t.leaving || t.launchedAs(func(l *api.Launch) bool {
		return l.Hold || !l.Done && l.Token != "" && l.Token != t.state.Launch
	})
}

// applyLaunches makes tasks follow their launches, except for starts, which follow the order
// of the allocation's life.
func (r *Runner) applyLaunches() {
	if r.alloc.Launches == nil || r.ending != nil || r.delayed || r.allDead() {
		return
	}
	for _, t := range r.tasks {
		if l := t.launch(); l != nil && (t.killed == nil || t.stage == stageDead) {
			t.applyLaunch(l)
		}
	}
}

func (t *task) applyLaunch(l *api.Launch) {
	isNew := l.Token != "" && l.Token != t.state.Launch
	switch {
	case t.stage == stageActive:
		if t.isSuperseded() {
			t.endRun(launchReason(l))
		}
	case l.Done && isNew:
		t.addEvent(event(api.EventLaunched, launchReason(l)))
		t.stage, t.killed = stageDead, nil
		t.change(func(s *api.TaskState) { s.State, s.Failed, s.Launch = api.TaskStateDead, false, l.Token })
	case l.Hold:
		if t.stage == stageWaiting {
			t.addEventOnce(event(api.EventHeld, launchReason(l)))
		}
	case isNew:
		t.relaunch(l)
	case t.isUnlaunched():
		t.addEventOnce(event(api.EventNotLaunched, launchReason(l)))
	}
}

func launchReason(l *api.Launch) string {
	switch {
	case l.Why != "":
		return strings.ToUpper(l.Why[:1]) + l.Why[1:]
	case l.Done:
		return "It has been done before"
	case l.Hold:
		return "It is held"
	case l.Token == "":
		return "It has yet to be launched"
	}
	return "It is launched"
}

// addEventOnce adds an event unless it equals the last one.
func (t *task) addEventOnce(e *api.TaskEvent) {
	if n := len(t.state.Events); n > 0 {
		if last := t.state.Events[n-1]; last.Type == e.Type && last.DisplayMessage == e.DisplayMessage {
			return
		}
	}
	t.addEvent(e)
	t.r.host.Changed(t.r, false)
}

// isInherited reports whether an earlier allocation has reached the task's goal.
func (t *task) isInherited() bool {
	return t.launchedAs(func(l *api.Launch) bool { return l.Done })
}

// endRun ends the task's current run, because the task is held or another launch replaces it.
func (t *task) endRun(words string) {
	if t.leaving && (t.handle == nil || t.signaled) {
		return
	}
	t.leaving = true
	t.intent = t.r.save()
	t.interrupt(cause{event: api.EventKilling, message: words})
	t.r.host.Changed(t.r, false)
}

// requeue makes a task whose process has ended wait for its turn again. The task is cleaning
// up until forgetRun.
func (t *task) requeue() {
	t.stage, t.handle, t.request, t.leaving, t.cleaningUp = stageWaiting, nil, nil, false, true
	t.intent = nil
	t.unschedule()
	t.change(func(s *api.TaskState) { s.State = api.TaskStatePending })
}

// relaunch resets the task for the run of a new launch.
func (t *task) relaunch(l *api.Launch) {
	t.stage, t.killed, t.policy, t.interrupted = stageWaiting, nil, restarts{}, false
	again := t.ran
	t.addEvent(event(api.EventLaunched, launchReason(l)))
	t.change(func(s *api.TaskState) {
		s.State, s.Failed, s.Launch = api.TaskStatePending, false, l.Token
		if again {
			s.Restarts++
			s.LastRestart = time.Now()
		}
	})
}

// forgetRun makes the driver forget the last run, whose exit is on record, and releases the
// task.
func (t *task) forgetRun(ctx context.Context) {
	t.forget(ctx)
	t.release(ctx)
}

// release ends the task's clean-up. While the runner still looks for tasks of an earlier
// agent, it does not advance: their states are unknown, and the search advances later.
func (t *task) release(ctx context.Context) {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	t.cleaningUp, t.recovering = false, false
	if ctx.Err() != nil || slices.ContainsFunc(r.tasks, func(o *task) bool { return o.recovering }) {
		return
	}
	before := r.modified
	if r.advance(); r.modified != before {
		r.save()
	}
}

// waitRecorded waits until the reason for ending the task is on record.
func (t *task) waitRecorded(intent *ledger.Commit) {
	if err := intent.Wait(); err != nil {
		t.r.host.Logger.Error("cannot record a task's launch", "allocation", t.r.id, "task", t.name, "error", err)
	}
}

// markInterrupted records that a task was ended before it reached its goal. Its state says
// failed, so that its work does not count as done. The allocation does not fail because of it.
func (t *task) markInterrupted() {
	if !t.mustSucceed() || t.state.Failed || t.r.alloc.Job != nil && t.r.alloc.Job.RunsToCompletion() {
		return
	}
	t.interrupted = true
	t.change(func(s *api.TaskState) { s.Failed = true })
}
