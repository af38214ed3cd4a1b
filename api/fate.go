// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Values of Group.Fate: the effect that the end of one concurrent task, main task or
// sidecar, has on the others. A task's own settings (Essential, Leader) take precedence.
const (
	FateShared      = "shared"      // a permanently failed task ends the others
	FateIndependent = "independent" // no task ends another; when all have ended, the allocation has failed if any task failed
	FateCodependent = "codependent" // all tasks restart with the first that ends, as if each were essential
)

// runsWithOthers reports whether the group's fate applies to the task. Prestart, poststart
// and poststop tasks that end are ordered by the lifecycle instead.
func (t *Task) runsWithOthers() bool { return t.IsMain() || t.IsSidecar() }

// IsEssential reports whether all tasks of the group restart when this one fails.
func (g *Group) IsEssential(t *Task) bool {
	if t.Essential != nil {
		return *t.Essential
	}
	return g.Fate == FateCodependent && t.runsWithOthers()
}

// IsOptional reports whether the task's failure is ignored.
func (t *Task) IsOptional() bool { return t.Essential != nil && !*t.Essential }

// IsIndependent reports whether the group's other tasks continue after this one has ended,
// with any result.
func (g *Group) IsIndependent(t *Task) bool {
	return t.IsOptional() || g.Fate == FateIndependent && t.Essential == nil && !t.Leader && t.runsWithOthers()
}

// KeepsRunning reports whether the task should run until it is stopped, in a job of that
// type.
func (t *Task) KeepsRunning(j *Job) bool {
	switch {
	case t.Goal != "":
		return t.Goal == GoalRunning
	case t.IsMain():
		return !j.RunsToCompletion()
	}
	return t.IsSidecar()
}
