// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// declaredPhases derives the phases of a declared deploy plan. Whole are the
// steps that a generated one would have, by group.
func (d *deployer) declaredPhases(spec *api.PlanSpec, whole map[string][]tree.Step) []*tree.Phase {
	byName := make(map[string]*facts.Group, len(d.Groups))
	all := make(map[string]*groupStages, len(d.Groups))
	for _, g := range d.Groups {
		if g.Def != nil {
			byName[g.Name], all[g.Name] = g, groupStagesOf(d.Job, spec, g)
		}
	}
	d.stages = all
	var phases []*tree.Phase
	for _, ph := range spec.Phases {
		g := byName[ph.Group]
		if g == nil {
			continue
		}
		p := &tree.Phase{
			Name: ph.Name, Group: g, Strategy: ph.Strategy, After: ph.After, Stagger: opt.Of(ph.Stagger),
			Rolling: g.Rolling,
			// Going back to what has proved itself needs nobody to look at it first.
			Uncanary: strings.HasSuffix(ph.Strategy, "-canary") && d.Reverts(),
		}
		total := 0
		for i := range g.Instances {
			for _, sg := range all[g.Name].of(g.Instances[i].Index) {
				if sg.phase == ph {
					total++
				}
			}
		}
		p.Steps = d.scratch.tree.StepsFor(total)[:0]
		for i := range g.Instances {
			c := all[g.Name].of(g.Instances[i].Index)
			for k := range c {
				if c[k].phase == ph {
					p.Steps = append(p.Steps, d.stageStep(&g.Instances[i], c, k, whole[g.Name][i]))
				}
			}
		}
		number, percent, _ := api.ParseShare(ph.MaxParallel)
		if ph.Strategy == api.StrategySerial || ph.Strategy == api.StrategySerialCanary {
			p.Limit = api.ShareOf(number, percent, total)
		}
		p.ResolveAfter()
		phases = append(phases, p)
	}
	return phases
}

// stageStep derives the step of one stage. Whole is what is left to do for the
// instance as such.
func (d *deployer) stageStep(in *facts.Instance, c stages, k int, whole tree.Step) tree.Step {
	st := whole
	st.Extra = nil
	st.Tasks = c[k].tasks
	if c[k].spec != nil && (len(c[k].spec.After) > 0 || c[k].spec.Name != "") {
		st.MutableExtra().Spec = c[k].spec
	}
	switch {
	case whole.Action == tree.Start, whole.Action == tree.Replace:
		if d.wasDone(in, st.Tasks) {
			st.Action, st.Status, st.Why = tree.None, tree.Complete, ""
			return st
		}
		if l := d.stageLaunches(in, c, k, d.isInside(in)); len(l) > 0 {
			st.MutableExtra().Launches = l
		}
	case in.Alloc == nil, len(c) == 1, in.State == facts.Ended && whole.Status == tree.Complete:
	case in.State == facts.Failed && d.wasDone(in, st.Tasks):
		st.Action, st.Status, st.Why = tree.None, tree.Complete, "" // whatever takes over does not run it
	case in.State == facts.Placed, in.State == facts.Running, in.State == facts.Unknown:
		d.stageInPlace(&st, c, k, whole)
	case !launch.IsLaunched(in.Alloc, st.Tasks) && whole.Status != tree.Complete:
		st.Status, st.Why = tree.Pending, whole.Why
	}
	return st
}

// stageInPlace derives a stage of an instance whose allocation is alive.
func (d *deployer) stageInPlace(st *tree.Step, c stages, k int, whole tree.Step) {
	a := st.On.Alloc
	later := false // is something launched that could not have been before this was complete
	for j := k + 1; j < len(c); j++ {
		later = later || d.follows(st.On, c[k], c[j]) && launch.IsLaunched(a, c[j].tasks)
	}
	// An instance that keeps an older version, because the deployment has ended, is
	// still brought up as far as it can be.
	keeps := d.IsOutdated(st.On.Group, a)
	switch {
	case keeps && whole.Status != tree.Complete && whole.Status != tree.Error:
		return
	case !launch.IsLaunched(a, st.Tasks) && !later && !(keeps && !knowsTasks(a, st.Tasks)):
		st.Action, st.Status, st.Why, st.Settles = tree.Launch, tree.Pending, "", false
		st.MutableExtra().Launches = d.stageLaunches(st.On, c, k, d.isInside(st.On))
		st.Extra.Updates = !keeps && !d.IsCurrent(a)
		return
	case keeps && !launch.Awaits(a):
		return
	case later, (whole.Status == tree.Complete || whole.Action == tree.Update && whole.Settles) && st.On.Group.Rolling && !launch.Awaits(a):
		if st.Status, st.Why = tree.Complete, ""; launch.IsLaunching(a, st.Tasks) {
			st.Status = tree.Starting
		}
	default:
		st.Status, st.Why = d.stageStatus(st.On, st.Tasks)
	}
	if st.Settles = false; whole.Action == tree.Update && st.Status == tree.Complete {
		st.Status, st.Settles = tree.Pending, !whole.Proves
	}
}

// stageStatus is how far launched tasks are: as far as the one that is least.
func (d *deployer) stageStatus(in *facts.Instance, tasks []string) (least tree.Status, why string) {
	least = tree.Complete
	goesOn := false
	for _, name := range tasks {
		t := in.Group.Def.Task(name)
		if t == nil {
			continue
		}
		goesOn = goesOn || launch.GoalOf(d.Job, t) == api.GoalRunning
		if is := taskStatus(d.Job, in.Alloc, t); is == tree.Starting || is == tree.Started && least == tree.Complete {
			least = is
		}
	}
	if least != tree.Complete || !goesOn || !in.Group.Rolling {
		return least, ""
	}
	healthy := in.Alloc.DeploymentStatus != nil && opt.Of(in.Alloc.DeploymentStatus.Healthy)
	unhealthy := in.Alloc.IsUnhealthy()
	if launch.Awaits(in.Alloc) {
		healthy, unhealthy = launch.LaunchHealth(in.Alloc)
	}
	switch {
	case healthy:
		return tree.Complete, ""
	case unhealthy:
		return tree.Started, "it did not become healthy in time"
	}
	return tree.Started, ""
}
