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
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// canaryStatus marks an allocation as a canary.
func canaryStatus(s *api.AllocDeploymentStatus) *api.AllocDeploymentStatus {
	c := api.AllocDeploymentStatus{Canary: true}
	if s != nil {
		c.Healthy, c.Timestamp = s.Healthy, s.Timestamp
	}
	return &c
}

// Reconcile works out what is to be done now about the evaluation's job. Job is
// its newest version; nil if it was purged.
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

// start asks for an instance, and says what it takes the place of.
func (w *work) start(st *tree.Step) {
	in, def := st.On, st.Job.Group(st.On.Group.Name)
	r := w.make.request()
	*r = placement.Request{
		Job: st.Job, Group: def, Index: in.Index, NodeID: in.Node,
		Name: w.name(in), Previous: in.Alloc, Canary: in.Canary,
	}
	if r.Previous == nil {
		r.Previous = in.Last
	}
	if w.active != nil && in.Group.Rolling && st.Job == w.Job {
		r.Deployment = w.active.ID
	}
	w.setPredecessor(r, st)
	w.asked[in.Number] = true
	w.setRecovery(r, st)
	first, own := w.firstLaunches(in, r.Previous, st.Job, r.Recovery), st.ExtraOrZero().Launches
	if own == nil && st.Job == w.Job {
		own = w.Rollout.FirstStage(in, first)
	}
	r.Launches = launch.New(launch.Merge(first, own))
	w.result.Start = append(w.result.Start, r)
}

// setRecovery says where the request may be placed, and what of its predecessor's
// it takes over.
func (w *work) setRecovery(r *placement.Request, st *tree.Step) {
	in := st.On
	switch {
	case r.Previous == nil:
		return
	case w.OrdersOn(in).ReplacedBy(r.Previous) != nil:
	case facts.PermanentAfter(in.Group.Def) == 0, st.Job != w.OwnVersion(in):
		return
	}
	kind, until := w.RecoveredAs(in, r.Previous, w.Now)
	if r.Recovery = kind; kind != api.RecoveryTransient {
		return
	}
	r.NodeID = r.Previous.NodeID
	if in.Node == "" { // if there is no room on that node, somebody has to look again
		w.addFollowUp(ident.Derive("permanent", r.Previous.ID), until, api.TriggerReschedule, "recovers instances anywhere that could not be recovered on their nodes")
	}
}

// name is the instance's; those of a job that runs on every node share it.
func (w *work) name(in *facts.Instance) string {
	if in.Node == "" {
		return w.make.name(w.Key.ID, in.Group.Name, in.Index, w.left)
	}
	return w.make.sharedName(w.Key.ID, in.Group.Name)
}

// setPredecessor fills in what must be known of the predecessor.
func (w *work) setPredecessor(r *placement.Request, st *tree.Step) {
	in := st.On
	if in.Alloc == nil {
		if in.Last != nil && facts.NeedsRecovery(in.Last) {
			r.Tracker = in.Last.RescheduleTracker
		}
		return
	}
	if st.Action == tree.Start || in.Away != nil && in.Away.Suspect || in.State == facts.Moving && w.Evacuates(in.Group, in.Alloc) {
		// Beside one that is out of reach, and may come back, or that goes on until it
		// is relieved.
		r.Tracker = in.Alloc.RescheduleTracker
		return
	}
	stop := newStop(in.Alloc, api.ReasonUpdated)
	if d := w.OrdersOn(in).ReplacedBy(in.Alloc); d != nil && in.State != facts.Lost && st.Job == w.OwnVersion(in) {
		stop = w.stop(in.Alloc, api.ReasonReplaced, api.ReplacedText(d))
		r.Replaces = stop
		if stop.ClientStatus == api.AllocClientLost {
			r.Replaces = nil
			w.result.Stop = append(w.result.Stop, stop)
		}
		return
	}
	switch in.State {
	case facts.Lost:
		stop = newStop(in.Alloc, w.WhyLost(in.Alloc))
		stop.ClientStatus = api.AllocClientLost
		w.result.Stop = append(w.result.Stop, stop)
		r.Tracker = in.Alloc.RescheduleTracker
		return
	case facts.Moving:
		reason := w.WhyMoved(in.Alloc)
		stop = w.stop(in.Alloc, reason, reason.Text())
		r.Tracker = in.Alloc.RescheduleTracker
		if opt.IsTrue(in.Alloc.DesiredTransition.Reschedule) {
			r.Tracker = reschedule.Track(w.Policy(in), in.Alloc, 0, w.Now, w.Now)
			r.Penalised = reschedule.Penalised(r.Tracker)
		}
		if w.MayStay(in.Alloc) {
			r.Replaces = stop
		} else {
			w.result.Stop = append(w.result.Stop, stop)
		}
		return
	case facts.Failed, facts.Ended:
		if st.Job == in.Alloc.Job || w.IsCurrent(in.Alloc) || st.Delay > 0 {
			stop = newStop(in.Alloc, api.ReasonFailed)
			if in.State == facts.Ended {
				stop = newStop(in.Alloc, api.ReasonEnded)
			}
			since := w.FailingSince(in, in.Alloc)
			if kind, _ := w.RecoveredAs(in, in.Alloc, w.Now); kind == api.RecoveryPermanent {
				since = w.Now // it begins anew elsewhere
			}
			r.Tracker = reschedule.Track(w.Policy(in), in.Alloc, st.Delay, since, w.Now)
			r.Penalised = reschedule.Penalised(r.Tracker)
		}
	}
	r.Replaces = stop
	if stop.Reason == api.ReasonUpdated {
		w.stopRivals(in)
	}
}

// stopRivals stops what may come back to claim an instance of which the deploy plan
// makes something else. What is suspect keeps its traffic until that is up.
func (w *work) stopRivals(in *facts.Instance) {
	for _, a := range in.Group.Behind {
		claims := a.Name == in.Alloc.Name && (in.Node == "" && a.IsCanary() == in.Canary || a.NodeID == in.Node)
		if claims && !w.stopped[a] && !w.IsSuspected(a) {
			if w.stopped == nil {
				w.stopped = make(map[*api.Allocation]bool)
			}
			w.stopped[a] = true
			w.leave(facts.Departure{Group: in.Group, Alloc: a, Reason: api.ReasonUpdated}, api.ReasonUpdated.Text())
		}
	}
}

// update changes an allocation in place. What runs goes on running, so health
// that was known, or was never asked for, counts for the new version too.
func (w *work) update(in *facts.Instance) {
	w.result.Kept = append(w.result.Kept, w.renew(in))
}

// renew gives an allocation the newest version of the job.
func (w *work) renew(in *facts.Instance) *api.Allocation {
	a := w.change(in.Alloc)
	a.Job, a.EvalID, a.Orphan = w.Job, w.Eval.ID, false
	a.DeploymentID, a.DeploymentStatus = "", nil
	if w.active != nil && in.Group.Rolling {
		a.DeploymentID = w.active.ID
		if healthy := w.CarriedHealth(in); healthy != nil {
			a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: healthy, Timestamp: w.Now}
		}
		if in.Canary {
			a.DeploymentStatus = canaryStatus(a.DeploymentStatus)
		}
	}
	return a
}

// change returns a copy of the allocation that is updated in place.
func (w *work) change(a *api.Allocation) *api.Allocation {
	c := w.changed[a.ID]
	if c == nil {
		c = a.Copy()
		if w.changed == nil {
			w.changed = make(map[string]*api.Allocation)
		}
		w.changed[a.ID] = c
		w.result.Update = append(w.result.Update, c)
	}
	return c
}

// leave stops an unwanted allocation. The description is the sentence of the reason.
func (w *work) leave(l facts.Departure, description string) {
	if !l.Alloc.IsClientTerminal() {
		w.counts(l.Group.Name).Stop++
	}
	w.result.Stop = append(w.result.Stop, w.stop(l.Alloc, l.Reason, description))
}

// stop has an allocation stopped. Where nobody is there to do it, and none is
// waited for any more, it is lost.
func (w *work) stop(a *api.Allocation, reason api.Reason, description string) *placement.Stop {
	stop := &placement.Stop{Alloc: a, Reason: reason, Description: description}
	if a.IsClientTerminal() {
		return stop
	}
	if w.IsLost(a) {
		stop.ClientStatus = api.AllocClientLost
	}
	return stop
}

// newStop returns a stop with the reason's own sentence.
func newStop(a *api.Allocation, reason api.Reason) *placement.Stop {
	return &placement.Stop{Alloc: a, Reason: reason, Description: reason.Text()}
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
