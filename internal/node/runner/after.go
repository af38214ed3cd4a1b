// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// resolveOrder marks the tasks that wait for the tasks named in their after list, and the
// tasks whose wait can never end. A predecessor that still awaits its launch is ignored:
// the plan that launches it orders it.
func (r *Runner) resolveOrder(m []taskView) {
	for i, t := range r.tasks {
		if t.stage != stageWaiting {
			continue
		}
		for _, name := range t.spec.After {
			o := r.task(name)
			if o == nil || o.isIdle() || o.isAwaited() || o.isHeld() {
				continue
			}
			m[i].waiting = m[i].waiting || !o.hasReachedGoal()
			if why := o.abandonReason(); why != "" {
				m[i].barredBecause = fmt.Sprintf("Task %q %s, which it comes after", name, why)
			}
		}
	}
}

// hasOrderedTasks reports whether a waiting task has an after list.
func (r *Runner) hasOrderedTasks() bool {
	for _, t := range r.tasks {
		if t.stage == stageWaiting && len(t.spec.After) > 0 {
			return true
		}
	}
	return false
}

// hasReachedGoal reports whether the tasks that come after this one may start: this task
// has ended, or it runs and is healthy.
func (t *task) hasReachedGoal() bool {
	return t.stage == stageDead || !t.mustSucceed() && t.passesLiveness()
}

// abandonReason returns the reason why tasks must not wait for this one any longer; "" if
// it has reached its goal or may still reach it.
func (t *task) abandonReason() string {
	switch {
	case t.stage != stageDead || t.isOptional():
		return ""
	case t.state.Failed && !t.interrupted:
		return "failed"
	case t.run == 0 && !t.isInherited():
		return "has not run"
	}
	return ""
}

// passesLiveness reports whether the task runs and passes its own liveness checks. Checks
// of the group's services do not count, because they need all main tasks.
func (t *task) passesLiveness() bool {
	if t.handle == nil || t.signaled {
		return false
	}
	if !t.r.hasChecks() {
		return true
	}
	for _, p := range t.r.probes() {
		if p.task == t && p.check.Kind == api.CheckKindLiveness && t.r.checks[p.id] != api.CheckStatusSuccess {
			return false
		}
	}
	return true
}

func barredCause(x taskView) cause {
	return cause{event: api.EventSiblingFailed, message: x.barredBecause}
}
