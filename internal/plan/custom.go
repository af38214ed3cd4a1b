// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"fmt"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A custom plan runs tasks inside the instances that are there: a backup that
// reads their data. Nothing of it happens before an operator starts it. Each
// start is a run, known by the id of the decision: it is the token under which
// tasks are launched, so that each is run once, and what is done stays done
// when its instance is replaced. A task that fails is an error of its step, and
// of nothing else.

// A customizer builds custom plans.
type customizer struct {
	*facts
	scratch *scratch
}

// buildCustom derives the custom plans.
func buildCustom(f *facts, m *scratch) []*tree {
	s := customizer{facts: f, scratch: m}
	return s.customTrees()
}

// customTrees derives the plans that the job declares for operators to start.
func (s *customizer) customTrees() (all []*tree) {
	if !s.wanted() {
		return nil
	}
	for _, spec := range s.job.Plans {
		if isCustom(s.job, spec.Name) && spec.Name != api.PlanUpdate {
			all = append(all, s.customTree(spec))
		}
	}
	return all
}

// A run is what an operator started of a custom plan.
type run struct {
	spec    *api.PlanSpec
	start   *api.Decision // nil: it was never started
	stop    *api.Decision // nil: it was not stopped
	rulings *rulings
}

// runOf finds the newest run of the plan.
func (s *customizer) runOf(spec *api.PlanSpec) *run {
	r := &run{spec: spec}
	for _, d := range s.decisions.all {
		switch {
		case d.Plan != spec.Name:
		case d.Verb == api.VerbStart:
			r.start, r.stop = d, nil
		case d.Verb == api.VerbStop && r.start != nil && d.Run == r.start.ID:
			r.stop = d
		}
	}
	if r.start != nil {
		r.rulings = s.decisions.rulingsOf(spec.Name, func(d *api.Decision) bool { return d.Run == r.start.ID })
	}
	return r
}

func (s *customizer) customTree(spec *api.PlanSpec) *tree {
	t := &tree{name: spec.Name, strategy: spec.Strategy, literal: true}
	r := s.runOf(spec)
	switch {
	case r.start == nil:
		t.message = fmt.Sprintf("not started: reeve plan start %s %s", s.key.ID, spec.Name)
	case r.stop != nil:
		t.parameters, t.message = r.start.Parameters, describeDecision("stopped", r.stop)
	default:
		t.run, t.parameters = r.start.ID, r.start.Parameters
	}
	before := true // all phases so far are complete
	for _, ph := range spec.Phases {
		g := s.groupOf(ph)
		if g == nil {
			continue
		}
		p := s.customPhase(r, ph, g)
		if before || spec.Strategy == api.StrategyParallel {
			p.holdTurn()
		}
		before = before && p.isComplete()
		t.phases = append(t.phases, p)
	}
	if r.stop == nil {
		t.rule(r.rulings)
	}
	return t
}

// groupOf is the group that the declared phase is about; nil if it has left the job.
func (s *customizer) groupOf(ph *api.PhaseSpec) *group {
	for _, g := range s.groups {
		if g.def != nil && (g.name == ph.Group || ph.Group == "" && g.name == ph.Name) {
			return g
		}
	}
	return nil
}

func (s *customizer) customPhase(r *run, ph *api.PhaseSpec, g *group) *phase {
	p := &phase{name: ph.Name, group: g, strategy: ph.Strategy, after: ph.After, stagger: of(ph.Stagger)}
	all := groupStagesOf(s.job, r.spec, g)
	total := 0
	for i := range g.instances {
		for _, sg := range all.of(g.instances[i].index) {
			if sg.phase == ph {
				total++
			}
		}
	}
	p.steps = s.scratch.tree.stepsFor(total)[:0]
	for i := range g.instances {
		in := &g.instances[i]
		for _, sg := range all.of(in.index) {
			if sg.phase != ph {
				continue
			}
			st := step{on: in, job: s.ownVersion(in), tasks: sg.tasks}
			if sg.spec != nil && (len(sg.spec.After) > 0 || sg.spec.Name != "") {
				st.mutableExtra().spec = sg.spec
			}
			s.customStep(&st, r, ph)
			p.steps = append(p.steps, st)
		}
	}
	number, percent, _ := api.ParseShare(ph.MaxParallel)
	if ph.Strategy == api.StrategySerial || ph.Strategy == api.StrategySerialCanary {
		p.limit = api.ShareOf(number, percent, total)
	}
	p.resolveAfter()
	return p
}

// customStep derives how far the step is in the run, and what is left to do.
func (s *customizer) customStep(st *step, r *run, ph *api.PhaseSpec) {
	if r.start == nil {
		st.status = Waiting
		return
	}
	token := r.start.ID
	if again := r.rulings.onStep(ph.Name, st.key()).again; again != nil {
		token = again.ID
	}
	in := st.on
	a := in.alloc
	if a == nil {
		a = in.last
	}
	launched := a != nil
	if launched {
		st.status, st.why, launched = s.runStatus(in, a, st.tasks, token, r)
	}
	why := s.notReady(in, st.tasks)
	switch {
	case launched && (st.status == Complete || in.alloc != nil && !in.alloc.IsClientTerminal()):
		if r.stop != nil && st.status != Complete {
			st.status, st.why = Waiting, describeDecision("stopped", r.stop)
		} else if st.status == Error {
			st.why = s.whatNext(st, ph, r)
		} else if d := s.paused(in, st.tasks); d != nil && st.status != Complete {
			st.why = describeDecision("paused", d)
		}
	case r.stop != nil:
		st.status, st.why = Waiting, ""
	case why != "":
		st.status, st.why, st.action = Pending, why, none
		st.mutableExtra().awaits = true
	default:
		st.action, st.status, st.why = launch, Pending, ""
		st.mutableExtra().launches = s.runLaunches(in, st.tasks, token, r)
	}
}

// runStatus says how far the tasks are in the run of that token: as far as the
// one that is least. They are not launched while one of them was not told.
func (s *customizer) runStatus(in *instance, a *api.Allocation, tasks []string, token string, r *run) (least Status, why string, launched bool) {
	least = Complete
	rank := []Status{Error, Starting, Started, Complete}
	for _, name := range tasks {
		t := in.group.def.Task(name)
		if t == nil {
			continue
		}
		l, _ := launchOf(a, name)
		if l.Token != token {
			if hasEnd(s.job, t) || a.CreateIndex <= r.start.CreateIndex {
				return "", "", false
			}
			continue // it keeps running, and was started after this began
		}
		is, text := taskRun(s.job, a, t, &l)
		if slices.Index(rank, is) < slices.Index(rank, least) {
			least, why = is, text
		}
	}
	return least, why, true
}

// taskRun says how far one task is that was launched.
func taskRun(job *api.Job, a *api.Allocation, t *api.Task, l *api.Launch) (is Status, why string) {
	state := a.TaskStates[t.Name]
	switch {
	case l.Done:
		return Complete, ""
	case state == nil, state.Launch != l.Token, state.State == api.TaskStatePending:
		return Starting, ""
	case state.State == api.TaskStateDead && state.Failed:
		return Error, strings.Replace(failure(state), "it", t.Name, 1)
	case state.State == api.TaskStateDead, !hasEnd(job, t):
		return Complete, ""
	}
	return Started, ""
}

// hasEnd reports whether the task is to end well rather than to keep running.
func hasEnd(job *api.Job, t *api.Task) bool { return goalOf(job, t) != api.GoalRunning }

// whatNext tells what can be done about a task that failed.
func (s *customizer) whatNext(st *step, ph *api.PhaseSpec, r *run) string {
	task := st.tasks[0]
	for _, name := range st.tasks {
		if is := st.on.alloc.TaskStates[name]; is != nil && is.Failed {
			task = name
		}
	}
	return fmt.Sprintf("%s; see reeve alloc logs %s %s, then run it again with reeve plan restart %s %s %s '%s'",
		st.why, api.ShortID(st.on.alloc.ID), task, s.key.ID, r.spec.Name, ph.Name, st.name())
}

// notReady is why nothing can be launched in the instance now; "" if it can.
func (s *customizer) notReady(in *instance, tasks []string) string {
	name := in.name()
	switch a := in.alloc; {
	case a == nil, a.IsClientTerminal(), in.state == lost:
		return name + " does not run: it is launched there when that is back"
	case in.state == placed:
		return name + " is starting: it is launched there when that runs"
	case in.state == unknown:
		return "the node of " + name + " is out of reach: it is launched there when that is back"
	case in.state == moving:
		return name + " is being moved: it is launched there when that is done"
	case a.Job.Group(in.group.name) == nil || slices.ContainsFunc(tasks, func(t string) bool { return a.Job.Group(in.group.name).Task(t) == nil }):
		return name + " has version " + fmt.Sprint(a.JobVersion()) + ", which has no such task: it is launched when that is at the newest"
	}
	for _, t := range tasks {
		if d := s.ordersOn(in).pausedBy(t); d != nil {
			return describeDecision(name+" is paused", d)
		}
	}
	return ""
}

// runLaunches are those of the step's tasks.
func (s *customizer) runLaunches(in *instance, tasks []string, token string, r *run) map[string]*api.Launch {
	wanted := make(map[string]*api.Launch, len(tasks))
	for _, name := range tasks {
		t := in.group.def.Task(name)
		if t == nil {
			continue
		}
		l, _ := launchOf(in.alloc, name)
		wanted[name] = &api.Launch{
			Token: token, Alone: hasEnd(s.job, t), Await: l.Await, Env: r.start.Parameters,
			Index: max(l.Index, r.start.CreateIndex), Why: describeDecision("plan "+r.spec.Name+", started", r.start),
		}
	}
	return wanted
}

// holdTurn has the steps hold their places whose turn has come and whose instances
// are not ready: nothing overtakes them.
func (p *phase) holdTurn() {
	room := len(p.steps)
	if strings.HasPrefix(p.strategy, api.StrategySerial) {
		room = max(p.limit, 1)
	}
	for i := range p.steps {
		st := &p.steps[i]
		if st.status == Complete || room == 0 {
			continue
		}
		if room--; st.extraOrZero().awaits && len(st.extraOrZero().after) == 0 && (i == 0 || p.steps[i-1].on != st.on || p.steps[i-1].isSettled()) {
			st.status = Prepared
		}
	}
}
