// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/derive"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// Reconcile computes the work to do now for the evaluation's job. Job is its newest
// version; nil if the job was purged.
func Reconcile(r facts.Reader, job *api.Job, eval *api.Evaluation, now time.Time) *Result {
	p := derive.All(r, eval.JobKey(), job, eval, now)
	defer p.Release()
	w := &work{Plans: p, result: &Result{Updates: make(map[string]*api.DesiredUpdates)}}
	w.asked, w.renewed = p.InstanceFlags(), p.InstanceFlags()
	trees := w.Trees
	var deploy []*tree.Phase
	if len(trees) > 0 && trees[0].Name == api.PlanDeploy {
		deploy = trees[0].Phases
	}
	w.settleDeployment(deploy)
	asking := 0 // plans that ask for instances
	for _, t := range trees {
		asked := len(w.result.Start)
		for _, p := range t.Phases {
			w.executeAll(p.Chosen)
			if p.Waiter != nil {
				w.due = append(w.due, followUp{p.Waiter, p.Until, api.TriggerPlanOperation})
			}
		}
		if len(w.result.Start) > asked {
			asking++
		}
	}
	if asking > 1 {
		w.orderByIndex()
	}
	w.noteRestart()
	w.steer()
	w.afterwards(deploy)
	w.noteAbsences()
	w.followUps()
	w.rest(deploy)
	w.result.Held = w.holds()
	w.result.pieces = w.make.pieces
	return w.result
}

// work turns steps into a Result.
type work struct {
	*derive.Plans
	result *Result
	active *api.Deployment // the one that new allocations belong to; nil: none
	due    []followUp
	make   maker
	left   int // steps of the phase that are yet to be done
	// asked and renewed hold, by number, the instances that a request asks for, and
	// those that were given the newest version in place.
	asked, renewed []bool
	stopped        map[*api.Allocation]bool // allocations behind instances
	// changed are the allocations in Update, by id.
	changed map[string]*api.Allocation
}

func (w *work) executeAll(steps []*tree.Step) {
	w.result.Start = slices.Grow(w.result.Start, starting(steps))
	for i, st := range steps {
		w.left = len(steps) - i - 1
		w.execute(st)
	}
}

// orderByIndex puts the instances of each group that several plans ask for in the order of
// their indexes: where there is room for some only, the lower ones get it. Canaries
// come first, as in their plan.
func (w *work) orderByIndex() {
	if w.Job == nil || w.Job.RunsOnEveryNode() {
		return
	}
	groups := make(map[string]int, len(w.Groups))
	for _, r := range w.result.Start {
		if _, seen := groups[r.Group.Name]; !seen {
			groups[r.Group.Name] = len(groups)
		}
	}
	slices.SortStableFunc(w.result.Start, func(a, b *placement.Request) int {
		switch {
		case a.Group.Name != b.Group.Name:
			return groups[a.Group.Name] - groups[b.Group.Name]
		case a.Canary != b.Canary && a.Canary:
			return -1
		case a.Canary != b.Canary:
			return 1
		}
		return a.Index - b.Index
	})
}

// starting counts the steps that ask for an instance.
func starting(steps []*tree.Step) (n int) {
	for _, st := range steps {
		if st.Action == tree.Start || st.Action == tree.Replace {
			n++
		}
	}
	return n
}

// execute carries one step out.
func (w *work) execute(st *tree.Step) {
	if st.Action == tree.Deregister {
		w.result.Deregister = true
		return
	}
	in := st.On
	counts := w.counts(in.Group.Name)
	switch st.Action {
	case tree.Leave:
		w.leave(facts.Departure{Group: in.Group, Alloc: in.Alloc, Reason: st.Reason}, st.Why)
		if st.ExtraOrZero().Forced != nil {
			w.result.Stop[len(w.result.Stop)-1].ClientStatus = api.AllocClientLost
		}
	case tree.Launch:
		w.launch(st)
	case tree.Update:
		if !w.renewed[in.Number] { // by another of its steps
			w.renewed[in.Number] = true
			counts.InPlaceUpdate++
			w.update(in)
		}
	case tree.Later:
		counts.RescheduleLater++
		w.due = append(w.due, followUp{in.Alloc, st.Until, api.TriggerReschedule})
	case tree.Start, tree.Replace:
		w.start(st)
		switch {
		case in.State == facts.Moving:
			counts.Migrate++
		case in.State == facts.Failed || in.State == facts.Ended:
			counts.RescheduleNow++
			counts.Place++
		case in.Canary && st.Action == tree.Start:
			counts.Canary++
		case in.Alloc == nil || in.State == facts.Lost || st.Action == tree.Start:
			counts.Place++
		default:
			counts.DestructiveUpdate++
		}
	}
}

// rest settles what no step was about: allocations that go on, and those that
// were stopping when their node was lost. It also counts what later
// evaluations of the deployment will do.
func (w *work) rest(deploy []*tree.Phase) {
	for _, g := range w.Groups {
		for _, a := range g.Stopping {
			w.result.Stop = append(w.result.Stop, &placement.Stop{
				Alloc: a, Reason: a.DesiredReason, Description: a.DesiredDescription, ClientStatus: api.AllocClientLost,
			})
		}
		for in := range g.Every {
			if w.Dirty.IsDirty(in) || in.Alloc == nil {
				continue
			}
			if !in.Alloc.IsClientTerminal() {
				w.result.Kept = append(w.result.Kept, cmp.Or(w.changed[in.Alloc.ID], in.Alloc))
			}
		}
	}
	for _, p := range deploy {
		counts := w.counts(p.Group.Name)
		for i := range p.Steps {
			st := &p.Steps[i]
			switch does := cmp.Or(st.Action, st.Blocked); {
			case w.Dirty.IsDirty(st.On), i > 0 && p.Steps[i-1].On == st.On:
			case does == tree.Replace:
				counts.DestructiveUpdate++
			case does == tree.Start:
				counts.Place++
			case st.Blocked == tree.Update:
				counts.InPlaceUpdate++
			default:
				counts.Ignore++
			}
		}
	}
	for _, r := range w.result.Start {
		if w.result.Queued == nil {
			w.result.Queued = make(map[string]int)
		}
		w.result.Queued[r.Group.Name]++
	}
}

func (w *work) counts(group string) *api.DesiredUpdates {
	c := w.result.Updates[group]
	if c == nil {
		c = &api.DesiredUpdates{}
		w.result.Updates[group] = c
	}
	return c
}

// afterwards has the job evaluated again when its deployment succeeds although
// an operator completed steps by force that never placed anything: then filling
// these places is recovery's.
func (w *work) afterwards(deploy []*tree.Phase) {
	succeeds := slices.ContainsFunc(w.result.DeploymentUpdates, func(u DeploymentUpdate) bool { return u.Status == api.DeploymentSuccessful })
	for _, p := range deploy {
		for i := range p.Steps {
			if st := &p.Steps[i]; succeeds && st.Extra != nil && st.Extra.Forced != nil && st.On.Alloc == nil {
				w.result.FollowUps = append(w.result.FollowUps, w.followUp(api.TriggerPlanOperation, w.Now, "forced"))
				return
			}
		}
	}
}
