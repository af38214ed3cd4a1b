// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Values of Group.Fate: what the end of one of the tasks that run together, main
// tasks and sidecars, does to the others. What a task says itself (Essential,
// Leader) goes before.
const (
	FateShared      = "shared"      // one that has failed for good ends the others
	FateIndependent = "independent" // none ends another; the allocation has failed if one has, when all have ended
	FateCodependent = "codependent" // all are restarted with the first that ends, as if each were essential
)

// runsWithOthers reports whether the group's fate concerns the task: prestart,
// poststart and poststop tasks that end have their place in the order of its life.
func (t *Task) runsWithOthers() bool { return t.IsMain() || t.IsSidecar() }

// IsEssential reports whether all of the group's tasks are restarted with this one
// when it fails.
func (g *Group) IsEssential(t *Task) bool {
	if t.Essential != nil {
		return *t.Essential
	}
	return g.Fate == FateCodependent && t.runsWithOthers()
}

// IsOptional reports whether the task's failure does not count.
func (t *Task) IsOptional() bool { return t.Essential != nil && !*t.Essential }

// IsIndependent reports whether the group's other tasks go on when this one has
// ended, however it did.
func (g *Group) IsIndependent(t *Task) bool {
	return t.IsOptional() || g.Fate == FateIndependent && t.Essential == nil && !t.Leader && t.runsWithOthers()
}

// KeepsRunning reports whether the task is to go on until it is stopped, in a job
// of that type.
func (t *Task) KeepsRunning(j *Job) bool {
	switch {
	case t.Goal != "":
		return t.Goal == GoalRunning
	case t.IsMain():
		return !j.RunsToCompletion()
	}
	return t.IsSidecar()
}
