// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/launch"
)

// hasMoved reports whether what a node said of an allocation's tasks may let
// another step of some plan begin: one whose launch the servers wait for did
// something, or the health of them all is known.
func hasMoved(old, new *api.Allocation) bool {
	if new.Launches == nil || new.IsServerTerminal() {
		return false
	}
	if s, o := new.LaunchStatus, old.LaunchStatus; s != nil && s != o && s.Healthy != nil &&
		(o == nil || o.Healthy == nil || o.ID != s.ID || *o.Healthy != *s.Healthy) {
		return true
	}
	awaits := false
	for _, l := range new.Launches.Tasks {
		awaits = awaits || l.Await && l.Token == ""
	}
	for name, is := range new.TaskStates {
		if l := new.Launches.Tasks[name]; !awaits && (l == nil || l.Token == "" && !l.Hold) {
			continue // nothing waits for it
		}
		was := old.TaskStates[name]
		switch {
		case is == nil || is == was:
		case was == nil:
			if is.State == api.TaskStateDead || is.State == api.TaskStateRunning && !ends(new, name) {
				return true
			}
		case was.State == is.State && was.Launch == is.Launch && was.Failed == is.Failed:
		case is.State != api.TaskStateDead && ends(new, name):
			// It has begun; what comes of it is its end.
		default:
			return true
		}
	}
	return false
}

// ends reports whether the task of an allocation is to end by itself.
func ends(a *api.Allocation, task string) bool {
	if a.Job == nil {
		return false
	}
	g := a.Job.Group(a.Group)
	if g == nil {
		return false
	}
	for _, t := range g.Tasks {
		if t.Name == task {
			return launch.GoalOf(a.Job, t) != api.GoalRunning
		}
	}
	return false
}
