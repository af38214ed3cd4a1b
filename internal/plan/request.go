// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/ident"
	"github.com/reeve-run/reeve/internal/plan/launch"
	"github.com/reeve-run/reeve/internal/plan/opt"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// start asks for an instance, and says what it takes the place of.
func (w *work) start(st *tree.Step) {
	in, def := st.On, st.Job.Group(st.On.Group.Name)
	r := w.make.request()
	*r = placement.Request{
		Job: st.Job, Group: def, Index: in.Index, NodeID: in.Node,
		Name: w.name(in), Previous: in.Alloc, Canary: in.Canary && (in.Node == "" || st.Job == w.Job),
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
	if ending := in.Ending(); ending != nil && r.Replaces == nil {
		r.Previous = ending // its room is promised to this request, and no other predecessor must make room
	}
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
		w.addFollowUp(ident.Derive("permanent", r.Previous.ID), until, api.TriggerReschedule, api.ReasonEvalRecoverAnywhere)
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
		if st.Reason != 0 || st.Job == in.Alloc.Job || w.IsCurrent(in.Alloc) || st.Delay > 0 {
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
