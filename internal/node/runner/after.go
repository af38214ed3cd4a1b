// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// order notes which members wait for tasks that they come after, and which wait
// in vain. Tasks that have yet to be launched are waited for by nobody: what
// launches them knows when their turn is.
func (r *Runner) order(m []taskView) {
	for i, t := range r.tasks {
		if t.stage != stageWaiting {
			continue
		}
		for _, name := range t.spec.After {
			o := r.task(name)
			if o == nil || o.isIdle() || o.isAwaited() || o.isHeld() {
				continue
			}
			m[i].waits = m[i].waits || !o.hasReachedGoal()
			if why := o.abandonReason(); why != "" {
				m[i].barredBecause = fmt.Sprintf("Task %q %s, which it comes after", name, why)
			}
		}
	}
}

// isOrdered reports whether a task waits that comes after others.
func (r *Runner) isOrdered() bool {
	for _, t := range r.tasks {
		if t.stage == stageWaiting && len(t.spec.After) > 0 {
			return true
		}
	}
	return false
}

// hasReachedGoal reports whether the task has come so far that others may come
// after it: it has ended, or runs and is well.
func (t *task) hasReachedGoal() bool {
	return t.stage == stageDead || !t.mustSucceed() && t.passesLiveness()
}

// abandonReason says why nobody need wait for the task any more; "" is that it may
// still come to something, or has.
func (t *task) abandonReason() string {
	switch {
	case t.stage != stageDead || t.isOptional():
		return ""
	case t.state.Failed && !t.cut:
		return "failed"
	case t.run == 0 && !t.isInherited():
		return "has not run"
	}
	return ""
}

// passesLiveness reports whether the task runs and its own liveness checks pass.
// Those of the group's services say nothing here: they need all main tasks.
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

func barredBy(x taskView) cause { return cause{event: api.EventSiblingFailed, words: x.barredBecause} }
