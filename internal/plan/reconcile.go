// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"cmp"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// Reconcile works out what is to be done now about the evaluation's job. Job is
// its newest version; nil if it was purged.
func Reconcile(r Reader, job *api.Job, eval *api.Evaluation, now time.Time) *Result {
	p := derivePlans(r, eval.JobKey(), job, eval, now)
	defer p.release()
	w := &work{plans: p, result: &Result{Updates: make(map[string]*api.DesiredUpdates)}}
	w.asked, w.renewed = p.instanceFlags(), p.instanceFlags()
	trees := w.trees
	var deploy []*phase
	if len(trees) > 0 && trees[0].name == api.PlanDeploy {
		deploy = trees[0].phases
	}
	w.settleDeployment(deploy)
	asking := 0 // plans that ask for instances
	for _, t := range trees {
		asked := len(w.result.Start)
		for _, p := range t.phases {
			w.executeAll(p.chosen)
			if p.waiter != nil {
				w.due = append(w.due, followUp{p.waiter, p.until, api.TriggerPlanOperation})
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
	*plans
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

func (w *work) executeAll(steps []*step) {
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
	if w.job == nil || w.job.RunsOnEveryNode() {
		return
	}
	groups := make(map[string]int, len(w.groups))
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
func starting(steps []*step) (n int) {
	for _, st := range steps {
		if st.action == start || st.action == replace {
			n++
		}
	}
	return n
}

// execute carries one step out.
func (w *work) execute(st *step) {
	if st.action == deregister {
		w.result.Deregister = true
		return
	}
	in := st.on
	counts := w.counts(in.group.name)
	switch st.action {
	case leave:
		w.leave(departure{in.group, in.alloc, st.reason}, st.why)
		if st.extraOrZero().forced != nil {
			w.result.Stop[len(w.result.Stop)-1].ClientStatus = api.AllocClientLost
		}
	case launch:
		w.launch(st)
	case update:
		if !w.renewed[in.number] { // by another of its steps
			w.renewed[in.number] = true
			counts.InPlaceUpdate++
			w.update(in)
		}
	case later:
		counts.RescheduleLater++
		w.due = append(w.due, followUp{in.alloc, st.until, api.TriggerReschedule})
	case start, replace:
		w.start(st)
		switch {
		case in.state == moving:
			counts.Migrate++
		case in.state == failed || in.state == ended:
			counts.RescheduleNow++
			counts.Place++
		case in.canary && st.action == start:
			counts.Canary++
		case in.alloc == nil || in.state == lost || st.action == start:
			counts.Place++
		default:
			counts.DestructiveUpdate++
		}
	}
}

// start asks for an instance, and says what it takes the place of.
func (w *work) start(st *step) {
	in, def := st.on, st.job.Group(st.on.group.name)
	r := w.make.request()
	*r = placement.Request{
		Job: st.job, Group: def, Index: in.index, NodeID: in.node,
		Name: w.name(in), Previous: in.alloc, Canary: in.canary,
	}
	if r.Previous == nil {
		r.Previous = in.last
	}
	if w.active != nil && in.group.rolling && st.job == w.job {
		r.Deployment = w.active.ID
	}
	w.setPredecessor(r, st)
	w.asked[in.number] = true
	w.setRecovery(r, st)
	first, own := w.firstLaunches(in, r.Previous, st.job, r.Recovery), st.extraOrZero().launches
	if own == nil && st.job == w.job {
		own = w.rollout.firstStage(in, first)
	}
	r.Launches = launches(mergeLaunches(first, own))
	w.result.Start = append(w.result.Start, r)
}

// setRecovery says where the request may be placed, and what of its predecessor's
// it takes over.
func (w *work) setRecovery(r *placement.Request, st *step) {
	in := st.on
	switch {
	case r.Previous == nil:
		return
	case w.ordersOn(in).replacedBy(r.Previous) != nil:
	case permanentAfter(in.group.def) == 0, st.job != w.ownVersion(in):
		return
	}
	kind, until := w.recoveredAs(in, r.Previous, w.now)
	if r.Recovery = kind; kind != api.RecoveryTransient {
		return
	}
	r.NodeID = r.Previous.NodeID
	if in.node == "" { // if there is no room on that node, somebody has to look again
		w.addFollowUp(deriveID("permanent", r.Previous.ID), until, api.TriggerReschedule, "recovers instances anywhere that could not be recovered on their nodes")
	}
}

// name is the instance's; those of a job that runs on every node share it.
func (w *work) name(in *instance) string {
	if in.node == "" {
		return w.make.name(w.key.ID, in.group.name, in.index, w.left)
	}
	return w.make.sharedName(w.key.ID, in.group.name)
}

// setPredecessor fills in what must be known of the predecessor.
func (w *work) setPredecessor(r *placement.Request, st *step) {
	in := st.on
	if in.alloc == nil {
		if in.last != nil && needsRecovery(in.last) {
			r.Tracker = in.last.RescheduleTracker
		}
		return
	}
	if st.action == start || in.away != nil && in.away.suspect || in.state == moving && w.evacuates(in.group, in.alloc) {
		// Beside one that is out of reach, and may come back, or that goes on until it
		// is relieved.
		r.Tracker = in.alloc.RescheduleTracker
		return
	}
	stop := newStop(in.alloc, api.ReasonUpdated)
	if d := w.ordersOn(in).replacedBy(in.alloc); d != nil && in.state != lost && st.job == w.ownVersion(in) {
		stop = w.stop(in.alloc, api.ReasonReplaced, api.ReplacedText(d))
		r.Replaces = stop
		if stop.ClientStatus == api.AllocClientLost {
			r.Replaces = nil
			w.result.Stop = append(w.result.Stop, stop)
		}
		return
	}
	switch in.state {
	case lost:
		stop = newStop(in.alloc, w.whyLost(in.alloc))
		stop.ClientStatus = api.AllocClientLost
		w.result.Stop = append(w.result.Stop, stop)
		r.Tracker = in.alloc.RescheduleTracker
		return
	case moving:
		reason := w.whyMoved(in.alloc)
		stop = w.stop(in.alloc, reason, reason.Text())
		r.Tracker = in.alloc.RescheduleTracker
		if isTrue(in.alloc.DesiredTransition.Reschedule) {
			r.Tracker = track(w.policy(in), in.alloc, 0, w.now, w.now)
			r.Penalised = penalised(r.Tracker)
		}
		if w.mayStay(in.alloc) {
			r.Replaces = stop
		} else {
			w.result.Stop = append(w.result.Stop, stop)
		}
		return
	case failed, ended:
		if st.job == in.alloc.Job || w.isCurrent(in.alloc) || st.delay > 0 {
			stop = newStop(in.alloc, api.ReasonFailed)
			if in.state == ended {
				stop = newStop(in.alloc, api.ReasonEnded)
			}
			since := w.failingSince(in, in.alloc)
			if kind, _ := w.recoveredAs(in, in.alloc, w.now); kind == api.RecoveryPermanent {
				since = w.now // it begins anew elsewhere
			}
			r.Tracker = track(w.policy(in), in.alloc, st.delay, since, w.now)
			r.Penalised = penalised(r.Tracker)
		}
	}
	r.Replaces = stop
	if stop.Reason == api.ReasonUpdated {
		w.stopRivals(in)
	}
}

// stopRivals stops what may come back to claim an instance of which the deploy plan
// makes something else. What is suspect keeps its traffic until that is up.
func (w *work) stopRivals(in *instance) {
	for _, a := range in.group.behind {
		claims := a.Name == in.alloc.Name && (in.node == "" && a.IsCanary() == in.canary || a.NodeID == in.node)
		if claims && !w.stopped[a] && !w.isSuspected(a) {
			if w.stopped == nil {
				w.stopped = make(map[*api.Allocation]bool)
			}
			w.stopped[a] = true
			w.leave(departure{in.group, a, api.ReasonUpdated}, api.ReasonUpdated.Text())
		}
	}
}

// penalised are the nodes on which the instance failed before.
func penalised(t *api.RescheduleTracker) []string {
	nodes := make([]string, 0, len(t.Events))
	for _, e := range t.Events {
		nodes = append(nodes, e.PrevNodeID)
	}
	return nodes
}

// update changes an allocation in place. What runs goes on running, so health
// that was known, or was never asked for, counts for the new version too.
func (w *work) update(in *instance) {
	w.result.Kept = append(w.result.Kept, w.renew(in))
}

// renew gives an allocation the newest version of the job.
func (w *work) renew(in *instance) *api.Allocation {
	a := w.change(in.alloc)
	a.Job, a.EvalID, a.Orphan = w.job, w.eval.ID, false
	a.DeploymentID, a.DeploymentStatus = "", nil
	if w.active != nil && in.group.rolling {
		a.DeploymentID = w.active.ID
		if healthy := w.carried(in); healthy != nil {
			a.DeploymentStatus = &api.AllocDeploymentStatus{Healthy: healthy, Timestamp: w.now}
		}
		if in.canary {
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
func (w *work) leave(l departure, description string) {
	if !l.alloc.IsClientTerminal() {
		w.counts(l.group.name).Stop++
	}
	w.result.Stop = append(w.result.Stop, w.stop(l.alloc, l.reason, description))
}

// stop has an allocation stopped. Where nobody is there to do it, and none is
// waited for any more, it is lost.
func (w *work) stop(a *api.Allocation, reason api.Reason, description string) *placement.Stop {
	stop := &placement.Stop{Alloc: a, Reason: reason, Description: description}
	if a.IsClientTerminal() {
		return stop
	}
	if w.isLost(a) {
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
func (w *work) rest(deploy []*phase) {
	for _, g := range w.groups {
		for _, a := range g.stopping {
			w.result.Stop = append(w.result.Stop, &placement.Stop{
				Alloc: a, Reason: a.DesiredReason, Description: a.DesiredDescription, ClientStatus: api.AllocClientLost,
			})
		}
		for in := range g.every {
			if w.dirty.isDirty(in) || in.alloc == nil {
				continue
			}
			if !in.alloc.IsClientTerminal() {
				w.result.Kept = append(w.result.Kept, cmp.Or(w.changed[in.alloc.ID], in.alloc))
			}
		}
	}
	for _, p := range deploy {
		counts := w.counts(p.group.name)
		for i := range p.steps {
			st := &p.steps[i]
			switch does := cmp.Or(st.action, st.blocked); {
			case w.dirty.isDirty(st.on), i > 0 && p.steps[i-1].on == st.on:
			case does == replace:
				counts.DestructiveUpdate++
			case does == start:
				counts.Place++
			case st.blocked == update:
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
func (w *work) afterwards(deploy []*phase) {
	succeeds := slices.ContainsFunc(w.result.DeploymentUpdates, func(u DeploymentUpdate) bool { return u.Status == api.DeploymentSuccessful })
	for _, p := range deploy {
		for i := range p.steps {
			if st := &p.steps[i]; succeeds && st.extra != nil && st.extra.forced != nil && st.on.alloc == nil {
				w.result.FollowUps = append(w.result.FollowUps, w.followUp(api.TriggerPlanOperation, w.now, "forced"))
				return
			}
		}
	}
}
