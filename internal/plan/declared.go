// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
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
func groupStagesOf(job *api.Job, spec *api.PlanSpec, g *group) *groupStages {
	c := &groupStages{}
	indexes := map[int]bool{}
	for _, ph := range spec.Phases {
		for _, st := range ph.Steps {
			if ph.Group == g.name && st.Index != nil {
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
func stagesOf(job *api.Job, spec *api.PlanSpec, g *group, index int) (c stages) {
	for _, ph := range spec.Phases {
		if ph.Group != g.name {
			continue
		}
		if len(ph.Steps) == 0 {
			c = append(c, stage{ph, nil, deployedTasks(job, g.def)})
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

// declaredPhases derives the phases of a declared deploy plan. Whole are the
// steps that a generated one would have, by group.
func (s *deployer) declaredPhases(spec *api.PlanSpec, whole map[string][]step) []*phase {
	byName := make(map[string]*group, len(s.groups))
	all := make(map[string]*groupStages, len(s.groups))
	for _, g := range s.groups {
		if g.def != nil {
			byName[g.name], all[g.name] = g, groupStagesOf(s.job, spec, g)
		}
	}
	s.stages = all
	var phases []*phase
	for _, ph := range spec.Phases {
		g := byName[ph.Group]
		if g == nil {
			continue
		}
		p := &phase{
			name: ph.Name, group: g, strategy: ph.Strategy, after: ph.After, stagger: of(ph.Stagger),
			rolling: g.rolling,
			// Going back to what has proved itself needs nobody to look at it first.
			uncanary: strings.HasSuffix(ph.Strategy, "-canary") && s.reverts(),
		}
		total := 0
		for i := range g.instances {
			for _, sg := range all[g.name].of(g.instances[i].index) {
				if sg.phase == ph {
					total++
				}
			}
		}
		p.steps = s.scratch.tree.stepsFor(total)[:0]
		for i := range g.instances {
			c := all[g.name].of(g.instances[i].index)
			for k := range c {
				if c[k].phase == ph {
					p.steps = append(p.steps, s.stageStep(&g.instances[i], c, k, whole[g.name][i]))
				}
			}
		}
		number, percent, _ := api.ParseShare(ph.MaxParallel)
		if ph.Strategy == api.StrategySerial || ph.Strategy == api.StrategySerialCanary {
			p.limit = api.ShareOf(number, percent, total)
		}
		p.resolveAfter()
		phases = append(phases, p)
	}
	return phases
}

// resolveAfter finds the steps that declared ones name.
func (p *phase) resolveAfter() {
	if p.strategy != api.StrategyDependency {
		return
	}
	for i := range p.steps {
		st := &p.steps[i]
		if st.extra == nil || st.extra.spec == nil || len(st.extra.spec.After) == 0 {
			continue
		}
		for _, before := range st.extra.spec.After {
			for j := range p.steps {
				other := &p.steps[j]
				sibling := other.on == st.on && other.extra != nil && other.extra.spec != nil && other.extra.spec.Name == before
				if sibling || other.name() == before {
					st.extra.after = append(st.extra.after, j)
				}
			}
		}
	}
}

// stageStep derives the step of one stage. Whole is what is left to do for the
// instance as such.
func (s *deployer) stageStep(in *instance, c stages, k int, whole step) step {
	st := whole
	st.extra = nil
	st.tasks = c[k].tasks
	if c[k].spec != nil && (len(c[k].spec.After) > 0 || c[k].spec.Name != "") {
		st.mutableExtra().spec = c[k].spec
	}
	switch {
	case whole.action == start, whole.action == replace:
		if s.wasDone(in, st.tasks) {
			st.action, st.status, st.why = none, Complete, ""
			return st
		}
		if l := s.stageLaunches(in, c, k); len(l) > 0 {
			st.mutableExtra().launches = l
		}
	case in.alloc == nil, len(c) == 1, in.state == ended && whole.status == Complete:
	case in.state == failed && s.wasDone(in, st.tasks):
		st.action, st.status, st.why = none, Complete, "" // whatever takes over does not run it
	case in.state == placed, in.state == running, in.state == unknown:
		s.stageInPlace(&st, c, k, whole)
	case !isLaunched(in.alloc, st.tasks) && whole.status != Complete:
		st.status, st.why = Pending, whole.why
	}
	return st
}

// stageInPlace derives a stage of an instance whose allocation is alive.
func (s *deployer) stageInPlace(st *step, c stages, k int, whole step) {
	a := st.on.alloc
	later := false // is something launched that could not have been before this was complete
	for j := k + 1; j < len(c); j++ {
		later = later || s.follows(st.on, c[k], c[j]) && isLaunched(a, c[j].tasks)
	}
	// An instance that keeps an older version, because the deployment has ended, is
	// still brought up as far as it can be.
	keeps := s.outdated(st.on.group, a)
	switch {
	case keeps && whole.status != Complete && whole.status != Error:
		return
	case !isLaunched(a, st.tasks) && !later && !(keeps && !knowsTasks(a, st.tasks)):
		st.action, st.status, st.why, st.settles = launch, Pending, "", false
		st.mutableExtra().launches = s.stageLaunches(st.on, c, k)
		st.extra.updates = !keeps && !s.isCurrent(a)
		return
	case keeps && !awaits(a):
		return
	case later, (whole.status == Complete || whole.action == update && whole.settles) && st.on.group.rolling && !awaits(a):
		if st.status, st.why = Complete, ""; isLaunching(a, st.tasks) {
			st.status = Starting
		}
	default:
		st.status, st.why = s.stageStatus(st.on, st.tasks)
	}
	if st.settles = false; whole.action == update && st.status == Complete {
		st.status, st.settles = Pending, !whole.proves
	}
}

// knowsTasks reports whether the version that the allocation has knows the tasks.
func knowsTasks(a *api.Allocation, tasks []string) bool {
	g := a.Job.Group(a.Group)
	return g != nil && !slices.ContainsFunc(tasks, func(name string) bool { return g.Task(name) == nil })
}

// deployToken is the token of tasks that a deploy step launches in an allocation
// that is there.
const deployToken = "deploy"

// isLaunched reports whether the tasks were launched in the allocation.
func isLaunched(a *api.Allocation, tasks []string) bool {
	if a.Launches == nil {
		return true
	}
	return !slices.ContainsFunc(tasks, func(name string) bool {
		l := a.Launches.Tasks[name]
		return l != nil && l.Token == "" && !l.Done
	})
}

// isLaunching reports whether the node has yet to run any of the tasks that a
// deploy step launched.
func isLaunching(a *api.Allocation, tasks []string) bool {
	return slices.ContainsFunc(tasks, func(name string) bool {
		l, _ := launchOf(a, name)
		is := a.TaskStates[name]
		return l.Token == deployToken && !l.Done && (is == nil || is.Launch != l.Token)
	})
}

// wasDone reports whether all of the tasks are done for good: whatever holds the
// instance next does not run them.
func (s *rollout) wasDone(in *instance, tasks []string) bool {
	a := in.alloc
	if a == nil {
		a = in.last
	}
	if a == nil || !s.knows(a) {
		return false
	}
	return !slices.ContainsFunc(tasks, func(name string) bool {
		t := in.group.def.Task(name)
		if t == nil || t.Goal != api.GoalOnce {
			return true
		}
		if a.Launches != nil && a.Launches.Tasks[name] != nil && a.Launches.Tasks[name].Done {
			return false
		}
		state := a.TaskStates[name]
		return state == nil || !state.IsSuccessful() || !isLaunched(a, []string{name})
	})
}

// stageStatus is how far launched tasks are: as far as the one that is least.
func (s *deployer) stageStatus(in *instance, tasks []string) (least Status, why string) {
	least = Complete
	goesOn := false
	for _, name := range tasks {
		t := in.group.def.Task(name)
		if t == nil {
			continue
		}
		goesOn = goesOn || goalOf(s.job, t) == api.GoalRunning
		if is := taskStatus(s.job, in.alloc, t); is == Starting || is == Started && least == Complete {
			least = is
		}
	}
	if least != Complete || !goesOn || !in.group.rolling {
		return least, ""
	}
	healthy := in.alloc.DeploymentStatus != nil && of(in.alloc.DeploymentStatus.Healthy)
	unhealthy := in.alloc.IsUnhealthy()
	if awaits(in.alloc) {
		healthy, unhealthy = launchedWell(in.alloc)
	}
	switch {
	case healthy:
		return Complete, ""
	case unhealthy:
		return Started, "it did not become healthy in time"
	}
	return Started, ""
}

// awaits reports whether the allocation has tasks that are yet to be launched
// before it counts as healthy.
func awaits(a *api.Allocation) bool {
	if a.Launches == nil {
		return false
	}
	for _, l := range a.Launches.Tasks {
		if l.Await && l.Token == "" && !l.Done {
			return true
		}
	}
	return false
}

// launchedWell is what the node says of the allocation since its launches last
// changed.
func launchedWell(a *api.Allocation) (healthy, unhealthy bool) {
	if a.LaunchStatus == nil || a.Launches == nil || a.LaunchStatus.ID != a.Launches.ID || a.LaunchStatus.Healthy == nil {
		return false, false
	}
	return *a.LaunchStatus.Healthy, !*a.LaunchStatus.Healthy
}

// taskStatus is how far one launched task is on the way to its goal.
func taskStatus(job *api.Job, a *api.Allocation, t *api.Task) Status {
	token := ""
	if a.Launches != nil && a.Launches.Tasks[t.Name] != nil {
		l := a.Launches.Tasks[t.Name]
		if l.Done {
			return Complete
		}
		token = l.Token
	}
	state := a.TaskStates[t.Name]
	switch {
	case t.Lifecycle != nil && t.Lifecycle.Hook == api.HookPoststop:
		return Complete // its time comes when all others have ended
	case state == nil, state.Launch != token, state.State == api.TaskStatePending:
		return Starting
	case goalOf(job, t) == api.GoalRunning && state.State == api.TaskStateRunning:
		return Complete
	case goalOf(job, t) != api.GoalRunning && state.IsSuccessful():
		return Complete
	}
	return Started
}

// goalOf is what the task is to reach.
func goalOf(job *api.Job, t *api.Task) string {
	switch {
	case t.Goal != "":
		return t.Goal
	case t.Lifecycle != nil && !t.Lifecycle.Sidecar && t.Lifecycle.Hook != "", t.Lifecycle == nil && job.RunsToCompletion():
		return api.GoalFinish
	}
	return api.GoalRunning
}
