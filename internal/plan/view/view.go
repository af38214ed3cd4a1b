// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A View displays a job's plans at one moment. Lists are cheap: phases and steps are
// converted to their wire form only on demand.
type View struct {
	*derive.Plans
	reasons map[string]string // memory of placementErrors
}

// Derive returns the job's current plans: deploy, and the other plans that have work.
// It changes nothing. Job may be nil if it was purged. The caller releases the view.
func Derive(r facts.Reader, key api.NamespacedID, job *api.Job, now time.Time) *View {
	return &View{Plans: derive.All(r, key, job, nil, now)}
}

// Release returns the view's memory. Its earlier results stay valid.
func (v *View) Release() {
	if v.Plans != nil {
		v.Plans.Release()
	}
	v.Plans = nil
}

// List returns the plans without their phases, in the order of their priority.
func (v *View) List() []*api.Plan {
	all := make([]*api.Plan, len(v.Trees))
	for i, t := range v.Trees {
		all[i] = v.showTree(t, false)
	}
	return all
}

// All returns the plans with everything.
func (v *View) All() []*api.Plan {
	all := make([]*api.Plan, len(v.Trees))
	for i, t := range v.Trees {
		all[i] = v.showTree(t, true)
	}
	return all
}

// Plan returns the plan of that name or id with all phases and steps, or nil.
func (v *View) Plan(name string) *api.Plan {
	for _, t := range v.Trees {
		if t.Name == name || v.PlanID(t) == name {
			return v.showTree(t, true)
		}
	}
	return nil
}

// showTree makes the plan's wire form.
func (v *View) showTree(t *tree.Tree, whole bool) *api.Plan {
	p := &api.Plan{
		ID: v.PlanID(t), Name: t.Name, Namespace: v.Key.Namespace, JobID: v.Key.ID, Strategy: t.Strategy,
		Interrupted: t.Held, Message: t.HoldReason(v.Deployment), Run: t.Run, Parameters: t.Parameters, Errors: slices.Clone(t.Errors),
	}
	if v.Job != nil {
		p.JobVersion = v.Job.Version
	}
	var all tree.Tally
	for _, ph := range t.Phases {
		count := ph.Tally()
		is := t.StatusOf(ph, &count)
		all.Add(is, ph.Open && is != tree.Complete)
		p.Completed += count.Complete
		p.Total += count.Total
		if whole || is == tree.Error {
			shown := v.showPhase(t, ph, is, &count)
			p.Errors = append(p.Errors, shown.Errors...)
			if whole {
				p.Phases = append(p.Phases, shown)
			}
			if shown.Since.After(p.Since) {
				p.Since = shown.Since
			}
		}
	}
	p.Status = t.Combined(&all)
	if p.Status == tree.Delayed {
		p.Until = t.ResumesAt()
	}
	if p.Message == "" && !whole {
		p.Message = t.WaitReason(p.Status)
	}
	if t.Rulings != nil && whole {
		p.Decisions = slices.Clone(t.Rulings.All)
	}
	return p
}

func (v *View) showPhase(t *tree.Tree, ph *tree.Phase, is tree.Status, count *tree.Tally) *api.Phase {
	p := &api.Phase{
		ID: v.PhaseID(t, ph), Name: ph.Name, Strategy: ph.Strategy, MaxParallel: cmp.Or(ph.Limit, ph.Most), After: ph.After,
		Status: is, Interrupted: ph.Held, Message: ph.Explain(t, is), Completed: count.Complete, Total: count.Total,
		Steps: make([]*api.Step, len(ph.Steps)),
	}
	if ph.Group != nil {
		p.Group = ph.Group.Name
	}
	var ahead *tree.Step
	for i := range ph.Steps {
		if ahead == nil && ph.Steps[i].Status != tree.Complete {
			ahead = &ph.Steps[i]
		}
		st := v.showStep(t, ph, &ph.Steps[i], ph.Ahead(i, ahead))
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

func (v *View) showStep(t *tree.Tree, ph *tree.Phase, st, ahead *tree.Step) *api.Step {
	its := st.ExtraOrZero()
	shown := &api.Step{
		ID: v.StepID(t, ph, st), Name: st.Name(), Status: st.Shown(), Interrupted: its.Held != nil,
		Message: v.explainStep(t, ph, st, ahead), Until: st.Until, Since: st.Since(), Tasks: st.TaskNames(), Recovery: its.Recovery, Forced: its.Forced,
	}
	if st.Job != nil {
		shown.JobVersion = st.Job.Version
	}
	if st.On != nil {
		shown.Group, shown.Index, shown.Node = st.On.Group.Name, st.On.Index, st.On.Node
		if st.On.Alloc != nil {
			shown.Allocation = st.On.Alloc.ID
		}
	}
	for _, i := range its.After {
		shown.After = append(shown.After, ph.Steps[i].Name())
	}
	if st.Status == tree.Error {
		shown.Errors = append(shown.Errors, st.Why)
	}
	return shown
}

// Identifiers are the same for the same element of the same job, always.

func (v *View) PlanID(t *tree.Tree) string {
	return ident.Derive("plan", v.Key.Namespace, v.Key.ID, t.Name)
}

func (v *View) PhaseID(t *tree.Tree, p *tree.Phase) string {
	return ident.Derive("phase", v.Key.Namespace, v.Key.ID, t.Name, p.Name)
}

func (v *View) StepID(t *tree.Tree, p *tree.Phase, st *tree.Step) string {
	node := ""
	if st.On != nil {
		node = st.On.Node
	}
	return ident.Derive("step", v.Key.Namespace, v.Key.ID, t.Name, p.Name, st.Name(), node)
}
