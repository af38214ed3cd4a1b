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

// Launches are how the servers steer tasks inside an allocation: see
// api.Launch. What is wanted is in the allocation; what a task's state is about
// is in its state, as the token of its launch. Both are on record, so whatever
// ends the agent, the next one sees the same difference between them.
//
// A run under a new token goes like this. The allocation with the launch is put
// on record; then the process is told to end. Its end is put on record, and in
// the same write the new token and that the task waits; then what the driver
// keeps of the old run is cleared away. The new run's number is put on record
// before its process may exist. An agent that is killed between any two of these
// finds either the process of the old run (it goes on from there), or its end on
// record, or the new run, whose process exists or does not: in no case is there
// a second one for the same token, and none is forgotten.

// launch is what the servers want of the task; nil: that it runs from the
// beginning.
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

// isUnlaunched reports whether the task waits for its launch.
func (t *task) isUnlaunched() bool {
	return t.stage == stageWaiting && t.launchedAs(func(l *api.Launch) bool { return l.Token == "" && !l.Hold })
}

// isAwaited reports whether the allocation is not whole without the task's
// launch, which has yet to come.
func (t *task) isAwaited() bool { return t.isUnlaunched() && t.launch().Await }

// isHeld reports whether the task is not to run until that changes.
func (t *task) isHeld() bool {
	return t.stage != stageDead && t.launchedAs(func(l *api.Launch) bool { return l.Hold })
}

// isIdle reports whether the task waits, and nothing waits for it: it is run by
// a custom plan, some time.
func (t *task) isIdle() bool {
	return t.isUnlaunched() && !t.launch().Await || t.stage == stageWaiting && t.isHeld() && t.launch().Alone
}

// isSuperseded reports whether what runs is to end: it is held, or another run
// is wanted.
func (t *task) isSuperseded() bool {
	return t.leaving || t.launchedAs(func(l *api.Launch) bool {
		return l.Hold || !l.Done && l.Token != "" && l.Token != t.state.Launch
	})
}

// applyLaunches makes tasks follow their launches, as far as that needs no turn in the
// order of the allocation's life.
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
			t.endRun(why(l))
		}
	case l.Done && isNew:
		t.tell(event(api.EventLaunched, why(l)))
		t.stage, t.killed = stageDead, nil
		t.change(func(s *api.TaskState) { s.State, s.Failed, s.Launch = api.TaskStateDead, false, l.Token })
	case l.Hold:
		if t.stage == stageWaiting {
			t.recordOnce(event(api.EventHeld, why(l)))
		}
	case isNew:
		t.relaunch(l)
	case t.isUnlaunched():
		t.recordOnce(event(api.EventNotLaunched, why(l)))
	}
}

func why(l *api.Launch) string {
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

// recordOnce records an event unless it says what the last one does.
func (t *task) recordOnce(e *api.TaskEvent) {
	if n := len(t.state.Events); n > 0 {
		if last := t.state.Events[n-1]; last.Type == e.Type && last.DisplayMessage == e.DisplayMessage {
			return
		}
	}
	t.tell(e)
	t.r.host.Changed(t.r, false)
}

// isInherited reports whether what the task is for was done before its
// allocation began.
func (t *task) isInherited() bool {
	return t.launchedAs(func(l *api.Launch) bool { return l.Done })
}

// endRun ends what the task is doing, to be held or run by another launch.
func (t *task) endRun(words string) {
	if t.leaving && (t.handle == nil || t.signaled) {
		return
	}
	t.leaving = true
	t.intent = t.r.save()
	t.interrupt(cause{event: api.EventKilling, words: words})
	t.r.host.Changed(t.r, false)
}

// requeue puts a task whose process has ended back to where it waits for its turn.
// It is busy until clear.
func (t *task) requeue() {
	t.stage, t.handle, t.again, t.leaving, t.busy = stageWaiting, nil, nil, false, true
	t.intent = nil
	t.unschedule()
	t.change(func(s *api.TaskState) { s.State = api.TaskStatePending })
}

// relaunch begins a task's life anew, for the run of that launch.
func (t *task) relaunch(l *api.Launch) {
	t.stage, t.killed, t.policy, t.cut = stageWaiting, nil, restarts{}, false
	again := t.ran
	t.tell(event(api.EventLaunched, why(l)))
	t.change(func(s *api.TaskState) {
		s.State, s.Failed, s.Launch = api.TaskStatePending, false, l.Token
		if again {
			s.Restarts++
			s.LastRestart = time.Now()
		}
	})
}

// forgetRun lets the driver forget the last run, whose end is on record, and the
// task go on.
func (t *task) forgetRun(ctx context.Context) {
	t.forget(ctx)
	t.release(ctx)
}

// release ends that the task is busy. As long as tasks of an earlier agent are
// looked for, it is left to these to go on: nobody knows how they are.
func (t *task) release(ctx context.Context) {
	r := t.r
	r.mu.Lock()
	defer r.mu.Unlock()
	t.busy, t.finding = false, false
	if ctx.Err() != nil || slices.ContainsFunc(r.tasks, func(o *task) bool { return o.finding }) {
		return
	}
	before := r.modified
	if r.advance(); r.modified != before {
		r.save()
	}
}

// recorded waits until why the task is told to end is on record.
func (t *task) recorded(intent *ledger.Commit) {
	if err := intent.Wait(); err != nil {
		t.r.host.Logger.Error("record a task's launch", "allocation", t.r.id, "task", t.name, "error", err)
	}
}

// cutShort notes that a task which was to end well will not: its state says that
// it failed, so that nobody takes its work for done. The allocation did not fail
// by that.
func (t *task) cutShort() {
	if !t.mustSucceed() || t.state.Failed || t.r.alloc.Job != nil && t.r.alloc.Job.RunsToCompletion() {
		return
	}
	t.cut = true
	t.change(func(s *api.TaskState) { s.Failed = true })
}
