// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A View is a job's plans as they are at one moment, to be shown. Lists are
// cheap: the wire forms of phases and steps are made only where asked for.
type View struct {
	*plans
	reasons map[string]string // memory of placementErrors
}

// Derive returns the job's plans as they are now: deploy, and the others if they
// have something to say. Nothing is changed by it. Job may be nil if it was
// purged. The view is to be released.
func Derive(r Reader, key api.NamespacedID, job *api.Job, now time.Time) *View {
	return &View{plans: derivePlans(r, key, job, nil, now)}
}

// Release gives the view's memory back. What it returned before stays as it is.
func (v *View) Release() {
	if v.plans != nil {
		v.plans.release()
	}
	v.plans = nil
}

// List returns the plans without their phases, in the order of their priority.
func (v *View) List() []*api.Plan {
	all := make([]*api.Plan, len(v.trees))
	for i, t := range v.trees {
		all[i] = v.showTree(t, false)
	}
	return all
}

// All returns the plans with everything.
func (v *View) All() []*api.Plan {
	all := make([]*api.Plan, len(v.trees))
	for i, t := range v.trees {
		all[i] = v.showTree(t, true)
	}
	return all
}

// Plan returns the plan of that name or id with everything; nil if there is none.
func (v *View) Plan(name string) *api.Plan {
	for _, t := range v.trees {
		if t.name == name || v.planID(t) == name {
			return v.showTree(t, true)
		}
	}
	return nil
}

// showTree makes the plan's wire form.
func (s *View) showTree(t *tree, whole bool) *api.Plan {
	p := &api.Plan{
		ID: s.planID(t), Name: t.name, Namespace: s.key.Namespace, JobID: s.key.ID, Strategy: t.strategy,
		Interrupted: t.held, Message: t.holdReason(s.deployment), Run: t.run, Parameters: t.parameters, Errors: slices.Clone(t.errors),
	}
	if s.job != nil {
		p.JobVersion = s.job.Version
	}
	var all tally
	for _, ph := range t.phases {
		count := ph.tally()
		is := t.statusOf(ph, &count)
		all.add(is, ph.open && is != Complete)
		p.Completed += count.complete
		p.Total += count.total
		if whole || is == Error {
			shown := s.showPhase(t, ph, is, &count)
			p.Errors = append(p.Errors, shown.Errors...)
			if whole {
				p.Phases = append(p.Phases, shown)
			}
			if shown.Since.After(p.Since) {
				p.Since = shown.Since
			}
		}
	}
	p.Status = t.combined(&all)
	if p.Status == Delayed {
		p.Until = t.resumesAt()
	}
	if p.Message == "" && !whole {
		p.Message = t.waitReason(p.Status)
	}
	if t.rulings != nil && whole {
		p.Decisions = slices.Clone(t.rulings.all)
	}
	return p
}

// status is the plan's.
func (t *tree) status() Status {
	var all tally
	for _, ph := range t.phases {
		count := ph.tally()
		is := t.statusOf(ph, &count)
		all.add(is, ph.open && is != Complete)
	}
	return t.combined(&all)
}

func (t *tree) combined(all *tally) Status {
	if len(t.errors) > 0 {
		return Error
	}
	return all.status(t.held)
}

// tally counts the phase's steps by status.
func (p *phase) tally() (t tally) {
	for i := range p.steps {
		st := &p.steps[i]
		t.add(st.shown(), st.next || st.action == none && only(st.status)&restful == 0)
	}
	return t
}

// shown is the status that people see. A candidate that has not been placed by
// now waits for room.
func (st *step) shown() Status {
	if st.next && (st.action == start || st.action == replace) {
		return Prepared
	}
	return st.status
}

func (s *View) showPhase(t *tree, ph *phase, is Status, count *tally) *api.Phase {
	p := &api.Phase{
		ID: s.phaseID(t, ph), Name: ph.name, Strategy: ph.strategy, MaxParallel: cmp.Or(ph.limit, ph.most), After: ph.after,
		Status: is, Interrupted: ph.held, Message: ph.explain(t, is), Completed: count.complete, Total: count.total,
		Steps: make([]*api.Step, len(ph.steps)),
	}
	if ph.group != nil {
		p.Group = ph.group.name
	}
	var ahead *step
	for i := range ph.steps {
		if ahead == nil && ph.steps[i].status != Complete {
			ahead = &ph.steps[i]
		}
		st := s.showStep(t, ph, &ph.steps[i], ph.ahead(i, ahead))
		p.Steps[i] = st
		if st.Since.After(p.Since) {
			p.Since = st.Since
		}
		for _, e := range st.Errors {
			p.Errors = append(p.Errors, st.Name+": "+e)
		}
	}
	return p
}

// ahead is the step that step i comes after, where first is the first of the
// phase that is not complete. Steps of a parallel phase only come after others of
// the same instance.
func (p *phase) ahead(i int, first *step) *step {
	switch {
	case p.strategy != api.StrategyParallel:
		return first
	case i > 0 && p.steps[i].on != nil && p.steps[i-1].on == p.steps[i].on && p.steps[i-1].status != Complete:
		return &p.steps[i-1]
	}
	return nil
}

func (s *View) showStep(t *tree, ph *phase, st, ahead *step) *api.Step {
	its := st.extraOrZero()
	shown := &api.Step{
		ID: s.stepID(t, ph, st), Name: st.name(), Status: st.shown(), Interrupted: its.held != nil,
		Message: s.explainStep(t, ph, st, ahead), Until: st.until, Since: st.since(), Tasks: st.taskNames(), Recovery: its.recovery, Forced: its.forced,
	}
	if st.job != nil {
		shown.JobVersion = st.job.Version
	}
	if st.on != nil {
		shown.Group, shown.Index, shown.Node = st.on.group.name, st.on.index, st.on.node
		if st.on.alloc != nil {
			shown.Allocation = st.on.alloc.ID
		}
	}
	for _, i := range its.after {
		shown.After = append(shown.After, ph.steps[i].name())
	}
	if st.status == Error {
		shown.Errors = append(shown.Errors, st.why)
	}
	return shown
}

// name is instance:[task, task], unless it is about something else.
func (st *step) name() string {
	if st.extra != nil && st.extra.name != "" {
		return st.extra.name
	}
	name := api.InstanceName(st.on.group.name, st.on.index) + ":[" + strings.Join(st.taskNames(), ", ") + "]"
	if st.on.canary {
		name += " canary"
	}
	return name
}

// taskNames are the tasks that the step is about.
func (st *step) taskNames() []string {
	if st.tasks != nil || st.on == nil || st.job == nil {
		return st.tasks
	}
	var names []string
	if g := st.job.Group(st.on.group.name); g != nil {
		for _, t := range g.Tasks {
			names = append(names, t.Name)
		}
	}
	return names
}

// Identifiers are the same for the same element of the same job, always.

func (s *View) planID(t *tree) string {
	return deriveID("plan", s.key.Namespace, s.key.ID, t.name)
}

func (s *View) phaseID(t *tree, p *phase) string {
	return deriveID("phase", s.key.Namespace, s.key.ID, t.name, p.name)
}

func (s *View) stepID(t *tree, p *phase, st *step) string {
	node := ""
	if st.on != nil {
		node = st.on.node
	}
	return deriveID("step", s.key.Namespace, s.key.ID, t.name, p.name, st.name(), node)
}

// Draw draws a plan as a tree of text.
func Draw(p *api.Plan) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s (%s strategy) (%s)", p.Name, p.Strategy, p.Status)
	write(&b, p.Message)
	for i, ph := range p.Phases {
		branch, trunk := "├─ ", "│  "
		if i == len(p.Phases)-1 {
			branch, trunk = "└─ ", "   "
		}
		strategy := ph.Strategy
		if ph.MaxParallel > 1 {
			strategy += fmt.Sprintf(", %d at a time", ph.MaxParallel)
		}
		fmt.Fprintf(&b, "%s%s (%s strategy) (%s)", branch, ph.Name, strategy, ph.Status)
		write(&b, unlessQueued(ph.Message))
		for j, st := range ph.Steps {
			leaf := "├─ "
			if j == len(ph.Steps)-1 {
				leaf = "└─ "
			}
			fmt.Fprintf(&b, "%s%s%s", trunk, leaf, st.Name)
			if st.Node != "" {
				fmt.Fprintf(&b, " on %s", api.ShortID(st.Node))
			}
			fmt.Fprintf(&b, " (%s)", st.Status)
			if st.Recovery != "" {
				b.WriteString(" " + st.Recovery)
			}
			write(&b, unlessQueued(st.Message))
		}
	}
	return b.String()
}

func write(b *strings.Builder, message string) {
	if message != "" {
		b.WriteString(" " + message)
	}
	b.WriteByte('\n')
}

// unlessQueued leaves out what the tree shows anyway: what comes before it.
func unlessQueued(message string) string {
	if strings.HasPrefix(message, comesAfter) {
		return ""
	}
	return message
}
