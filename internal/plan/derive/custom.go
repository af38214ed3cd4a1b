// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A custom plan runs tasks inside the instances that are there: a backup that
// reads their data. Nothing of it happens before an operator starts it. Each
// start is a run, known by the id of the decision: it is the token under which
// tasks are launched, so that each is run once, and what is done stays done
// when its instance is replaced. A task that fails is an error of its step, and
// of nothing else.

// A customizer builds custom plans.
type customizer struct {
	*facts.Facts
	scratch *scratch
}

// buildCustom derives the custom plans.
func buildCustom(f *facts.Facts, m *scratch) []*tree.Tree {
	s := customizer{Facts: f, scratch: m}
	return s.customTrees()
}

// customTrees derives the plans that the job declares for operators to start.
func (c *customizer) customTrees() (all []*tree.Tree) {
	if !c.IsWanted() {
		return nil
	}
	for _, spec := range c.Job.Plans {
		if IsCustom(c.Job, spec.Name) && spec.Name != api.PlanUpdate {
			all = append(all, c.customTree(spec))
		}
	}
	return all
}

// A run is what an operator started of a custom plan.
type run struct {
	spec    *api.PlanSpec
	start   *api.Decision // nil: it was never started
	stop    *api.Decision // nil: it was not stopped
	rulings *decision.Rulings
}

// runOf finds the newest run of the plan.
func (c *customizer) runOf(spec *api.PlanSpec) *run {
	r := &run{spec: spec}
	for _, d := range c.Decisions.All {
		switch {
		case d.Plan != spec.Name:
		case d.Verb == api.VerbStart:
			r.start, r.stop = d, nil
		case d.Verb == api.VerbStop && r.start != nil && d.Run == r.start.ID:
			r.stop = d
		}
	}
	if r.start != nil {
		r.rulings = c.Decisions.RulingsOf(spec.Name, func(d *api.Decision) bool { return d.Run == r.start.ID })
	}
	return r
}

func (c *customizer) customTree(spec *api.PlanSpec) *tree.Tree {
	t := &tree.Tree{Name: spec.Name, Strategy: spec.Strategy, Literal: true}
	r := c.runOf(spec)
	switch {
	case r.start == nil:
		t.Message = fmt.Sprintf("not started: reeve plan start %s %s", c.Key.ID, spec.Name)
	case r.stop != nil:
		t.Parameters, t.Message = r.start.Parameters, decision.Describe("stopped", r.stop)
	default:
		t.Run, t.Parameters = r.start.ID, r.start.Parameters
	}
	before := true // all phases so far are complete
	for _, ph := range spec.Phases {
		g := c.groupOf(ph)
		if g == nil {
			continue
		}
		p := c.customPhase(r, ph, g)
		if before || spec.Strategy == api.StrategyParallel {
			p.HoldTurn()
		}
		before = before && p.IsComplete()
		t.Phases = append(t.Phases, p)
	}
	if r.stop == nil {
		t.ApplyRulings(r.rulings)
	}
	return t
}

// groupOf is the group that the declared phase is about; nil if it has left the job.
func (c *customizer) groupOf(ph *api.PhaseSpec) *facts.Group {
	for _, g := range c.Groups {
		if g.Def != nil && (g.Name == ph.Group || ph.Group == "" && g.Name == ph.Name) {
			return g
		}
	}
	return nil
}

func (c *customizer) customPhase(r *run, ph *api.PhaseSpec, g *facts.Group) *tree.Phase {
	p := &tree.Phase{Name: ph.Name, Group: g, Strategy: ph.Strategy, After: ph.After, Stagger: opt.Of(ph.Stagger)}
	all := groupStagesOf(c.Job, r.spec, g)
	total := 0
	for i := range g.Instances {
		for _, sg := range all.of(g.Instances[i].Index) {
			if sg.phase == ph {
				total++
			}
		}
	}
	p.Steps = c.scratch.tree.StepsFor(total)[:0]
	for i := range g.Instances {
		in := &g.Instances[i]
		for _, sg := range all.of(in.Index) {
			if sg.phase != ph {
				continue
			}
			st := tree.Step{On: in, Job: c.OwnVersion(in), Tasks: sg.tasks}
			if sg.spec != nil && (len(sg.spec.After) > 0 || sg.spec.Name != "") {
				st.MutableExtra().Spec = sg.spec
			}
			c.customStep(&st, r, ph)
			p.Steps = append(p.Steps, st)
		}
	}
	number, percent, _ := api.ParseShare(ph.MaxParallel)
	if ph.Strategy == api.StrategySerial || ph.Strategy == api.StrategySerialCanary {
		p.Limit = api.ShareOf(number, percent, total)
	}
	p.ResolveAfter()
	return p
}

// customStep derives how far the step is in the run, and what is left to do.
func (c *customizer) customStep(st *tree.Step, r *run, ph *api.PhaseSpec) {
	if r.start == nil {
		st.Status = tree.Waiting
		return
	}
	token := r.start.ID
	if again := r.rulings.OnStep(ph.Name, st.Key()).Again; again != nil {
		token = again.ID
	}
	in := st.On
	a := in.Alloc
	if a == nil {
		a = in.Last
	}
	launched := a != nil
	if launched {
		st.Status, st.Why, launched = c.runStatus(in, a, st.Tasks, token, r)
	}
	why := c.notReady(in, st.Tasks)
	switch {
	case launched && (st.Status == tree.Complete || in.Alloc != nil && !in.Alloc.IsClientTerminal()):
		if r.stop != nil && st.Status != tree.Complete {
			st.Status, st.Why = tree.Waiting, decision.Describe("stopped", r.stop)
		} else if st.Status == tree.Error {
			st.Why = c.whatNext(st, ph, r)
		} else if d := c.Paused(in, st.Tasks); d != nil && st.Status != tree.Complete {
			st.Why = decision.Describe("paused", d)
		}
	case r.stop != nil:
		st.Status, st.Why = tree.Waiting, ""
	case why != "":
		st.Status, st.Why, st.Action = tree.Pending, why, tree.None
		st.MutableExtra().Awaits = true
	default:
		st.Action, st.Status, st.Why = tree.Launch, tree.Pending, ""
		st.MutableExtra().Launches = c.runLaunches(in, st.Tasks, token, r)
	}
}

// runStatus says how far the tasks are in the run of that token: as far as the
// one that is least. They are not launched while one of them was not told.
func (c *customizer) runStatus(in *facts.Instance, a *api.Allocation, tasks []string, token string, r *run) (least tree.Status, why string, launched bool) {
	least = tree.Complete
	rank := []tree.Status{tree.Error, tree.Starting, tree.Started, tree.Complete}
	for _, name := range tasks {
		t := in.Group.Def.Task(name)
		if t == nil {
			continue
		}
		l, _ := launch.Of(a, name)
		if l.Token != token {
			if hasEnd(c.Job, t) || a.CreateIndex <= r.start.CreateIndex {
				return "", "", false
			}
			continue // it keeps running, and was started after this began
		}
		is, text := taskRun(c.Job, a, t, &l)
		if slices.Index(rank, is) < slices.Index(rank, least) {
			least, why = is, text
		}
	}
	return least, why, true
}

// taskRun says how far one task is that was launched.
func taskRun(job *api.Job, a *api.Allocation, t *api.Task, l *api.Launch) (is tree.Status, why string) {
	state := a.TaskStates[t.Name]
	switch {
	case l.Done:
		return tree.Complete, ""
	case state == nil, state.Launch != l.Token, state.State == api.TaskStatePending:
		return tree.Starting, ""
	case state.State == api.TaskStateDead && state.Failed:
		return tree.Error, strings.Replace(failure(state), "it", t.Name, 1)
	case state.State == api.TaskStateDead, !hasEnd(job, t):
		return tree.Complete, ""
	}
	return tree.Started, ""
}

// hasEnd reports whether the task is to end well rather than to keep running.
func hasEnd(job *api.Job, t *api.Task) bool { return launch.GoalOf(job, t) != api.GoalRunning }

// whatNext tells what can be done about a task that failed.
func (c *customizer) whatNext(st *tree.Step, ph *api.PhaseSpec, r *run) string {
	task := st.Tasks[0]
	for _, name := range st.Tasks {
		if is := st.On.Alloc.TaskStates[name]; is != nil && is.Failed {
			task = name
		}
	}
	return fmt.Sprintf("%s; see reeve alloc logs %s %s, then run it again with reeve plan restart %s %s %s '%s'",
		st.Why, api.ShortID(st.On.Alloc.ID), task, c.Key.ID, r.spec.Name, ph.Name, st.Name())
}

// notReady is why nothing can be launched in the instance now; "" if it can.
func (c *customizer) notReady(in *facts.Instance, tasks []string) string {
	name := in.Name()
	switch a := in.Alloc; {
	case a == nil, a.IsClientTerminal(), in.State == facts.Lost:
		return name + " does not run: the task is launched when the instance runs again"
	case in.State == facts.Placed:
		return name + " is starting: the task is launched when the instance runs"
	case in.State == facts.Unknown:
		return "the node of " + name + " is out of reach: the task is launched when the node returns"
	case in.State == facts.Moving:
		return name + " is being moved: the task is launched after the move"
	case a.Job.Group(in.Group.Name) == nil || slices.ContainsFunc(tasks, func(t string) bool { return a.Job.Group(in.Group.Name).Task(t) == nil }):
		return name + " has version " + fmt.Sprint(a.JobVersion()) + ", which has no such task: the task is launched when the instance has the newest version"
	}
	for _, t := range tasks {
		if d := c.OrdersOn(in).PausedBy(t); d != nil {
			return decision.Describe(name+" is paused", d)
		}
	}
	return ""
}

// runLaunches are those of the step's tasks.
func (c *customizer) runLaunches(in *facts.Instance, tasks []string, token string, r *run) map[string]*api.Launch {
	wanted := make(map[string]*api.Launch, len(tasks))
	for _, name := range tasks {
		t := in.Group.Def.Task(name)
		if t == nil {
			continue
		}
		l, _ := launch.Of(in.Alloc, name)
		wanted[name] = &api.Launch{
			Token: token, Alone: hasEnd(c.Job, t), Await: l.Await, Env: r.start.Parameters,
			Index: max(l.Index, r.start.CreateIndex), Why: decision.Describe("plan "+r.spec.Name+", started", r.start),
		}
	}
	return wanted
}

// IsCustom reports whether the job declares the plan for operators to start.
func IsCustom(job *api.Job, name string) bool {
	return job != nil && name != api.PlanDeploy && slices.ContainsFunc(job.Plans, func(p *api.PlanSpec) bool { return p.Name == name })
}
