// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
)

// goal returns the task's goal: the one in its job file, or the default for the job's type
// and the task's hook.
func (t *task) goal() string {
	switch {
	case t.spec.Goal != "":
		return t.spec.Goal
	case t.r.alloc.Job != nil && !t.spec.KeepsRunning(t.r.alloc.Job), !t.spec.IsMain() && !t.spec.IsSidecar():
		return api.GoalFinish
	}
	return api.GoalRunning
}

// mustSucceed reports whether the task reaches its goal by exiting with code 0. For other
// tasks every exit is a failure.
func (t *task) mustSucceed() bool { return t.goal() != api.GoalRunning }

// isDone reports whether the task has reached its goal and does not run again when the
// allocation restarts.
func (t *task) isDone() bool {
	return t.spec.Goal != "" && t.mustSucceed() && t.state.IsSuccessful() && t.killed == nil && (t.ran || t.isInherited())
}

// isOptional reports whether the task's failure does not count.
func (t *task) isOptional() bool {
	return t.spec.IsOptional() || t.launchedAs(func(l *api.Launch) bool { return l.Alone })
}

// isAlone reports whether the group's other tasks continue when this one ends.
func (t *task) isAlone() bool { return t.isOptional() || t.r.group.IsIndependent(t.spec) }

// restartSiblings restarts the group's other long-running tasks together with this essential
// task, which failed and is restarted after delay.
func (t *task) restartSiblings(delay time.Duration) {
	if !t.r.group.IsEssential(t.spec) {
		return
	}
	words := fmt.Sprintf("task %q failed, which is essential", t.name)
	if t.spec.Essential == nil {
		words = fmt.Sprintf("task %q ended, and the tasks of the group are codependent", t.name)
	}
	for _, o := range t.r.tasks {
		if o == t || o.goal() != api.GoalRunning || o.handle == nil && o.starting == nil && !o.recovering || !o.acceptsRequest() {
			continue
		}
		o.addEvent(siblingEvent(cause{event: api.EventSiblingFailed, message: "Restarted because " + words, sibling: t.name}))
		o.requestRestart(&request{Words: "T" + words[1:], Until: time.Now().Add(delay)})
	}
}
