// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A declared deploy plan says which tasks of an instance are launched together,
// and in which order. The first step that is done on an instance places its
// allocation, with the tasks of later steps not running yet; those launch them
// there.

// A stage is what one declared step does to one instance.
type stage struct {
	phase *api.PhaseSpec
	spec  *api.StepSpec // nil: the phase declares no steps
	tasks []string
}

// A stages is the stages of one instance, in the order of the plan.
type stages []stage

// groupStages are those of a group's instances.
type groupStages struct {
	own    map[int]stages // of instances with steps of their own
	others stages
}

func (c *groupStages) of(index int) stages {
	if own, ok := c.own[index]; ok {
		return own
	}
	return c.others
}

// groupStagesOf works out what the plan does to the instances of a group.
func groupStagesOf(job *api.Job, spec *api.PlanSpec, g *facts.Group) *groupStages {
	c := &groupStages{}
	indexes := map[int]bool{}
	for _, ph := range spec.Phases {
		for _, st := range ph.Steps {
			if ph.Group == g.Name && st.Index != nil {
				indexes[*st.Index] = true
			}
		}
	}
	for index := range indexes {
		if c.own == nil {
			c.own = make(map[int]stages)
		}
		c.own[index] = stagesOf(job, spec, g, index)
	}
	c.others = stagesOf(job, spec, g, -1)
	return c
}

// stagesOf is the course of one index; of those without steps of their own if
// that is -1.
func stagesOf(job *api.Job, spec *api.PlanSpec, g *facts.Group, index int) (c stages) {
	for _, ph := range spec.Phases {
		if ph.Group != g.Name {
			continue
		}
		if len(ph.Steps) == 0 {
			c = append(c, stage{ph, nil, deployedTasks(job, g.Def)})
			continue
		}
		own := slices.ContainsFunc(ph.Steps, func(st *api.StepSpec) bool { return st.Index != nil && *st.Index == index })
		for _, st := range ph.Steps {
			if len(st.Tasks) > 0 && (own && st.Index != nil && *st.Index == index || !own && st.Index == nil) {
				c = append(c, stage{ph, st, st.Tasks})
			}
		}
	}
	return c
}

// deployedTasks are the group's tasks that are not only in custom plans.
func deployedTasks(job *api.Job, g *api.Group) (names []string) {
	for _, t := range g.Tasks {
		if !job.IsCustomOnly(g, t) {
			names = append(names, t.Name)
		}
	}
	return names
}

// knowsTasks reports whether the version that the allocation has knows the tasks.
func knowsTasks(a *api.Allocation, tasks []string) bool {
	g := a.Job.Group(a.Group)
	return g != nil && !slices.ContainsFunc(tasks, func(name string) bool { return g.Task(name) == nil })
}

// wasDone reports whether all of the tasks are done for good: whatever holds the
// instance next does not run them.
func (r *Rollout) wasDone(in *facts.Instance, tasks []string) bool {
	a := in.Alloc
	if a == nil {
		a = in.Last
	}
	if a == nil || !r.Knows(a) {
		return false
	}
	return !slices.ContainsFunc(tasks, func(name string) bool {
		t := in.Group.Def.Task(name)
		if t == nil || t.Goal != api.GoalOnce {
			return true
		}
		if a.Launches != nil && a.Launches.Tasks[name] != nil && a.Launches.Tasks[name].Done {
			return false
		}
		state := a.TaskStates[name]
		return state == nil || !state.IsSuccessful() || !launch.IsLaunched(a, []string{name})
	})
}

// taskStatus is how far one launched task is on the way to its goal.
func taskStatus(job *api.Job, a *api.Allocation, t *api.Task) tree.Status {
	token := ""
	if a.Launches != nil && a.Launches.Tasks[t.Name] != nil {
		l := a.Launches.Tasks[t.Name]
		if l.Done {
			return tree.Complete
		}
		token = l.Token
	}
	state := a.TaskStates[t.Name]
	switch {
	case t.Lifecycle != nil && t.Lifecycle.Hook == api.HookPoststop:
		return tree.Complete // its time comes when all others have ended
	case state == nil, state.Launch != token, state.State == api.TaskStatePending:
		return tree.Starting
	case launch.GoalOf(job, t) == api.GoalRunning && state.State == api.TaskStateRunning:
		return tree.Complete
	case launch.GoalOf(job, t) != api.GoalRunning && state.IsSuccessful():
		return tree.Complete
	}
	return tree.Started
}
