// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// The place of a recovery: an instance of a group without a recovery block recovers
// immediately on any node, and takes its directory along only if the disk block requests
// that. With the block, an instance recovers on its own node, in its own directory
// (TRANSIENT), until it has failed, or its node has been silent, for permanent_after; then
// on any node, with an empty directory (PERMANENT). An instance that an operator replaces
// recovers like that immediately.

const whyRecoveredThere = "its node is down: it continues there if the node returns by then, and starts on any other node after that"

const whyBeside = "its node is out of reach: it continues there if the node returns first"

// recoveryShown is the kind that people see, which is known without a recovery
// block too.
func (r *recoverer) recoveryShown(in *facts.Instance, due time.Time) string {
	a := in.Alloc
	if a == nil {
		a = in.Last
	}
	at := r.Now
	if due.After(at) {
		at = due
	}
	if in.Away != nil && in.Away.Recovered {
		return api.RecoveryTransient
	}
	kind, _ := r.RecoveredAs(in, a, at)
	if kind == "" {
		return usualKind(in)
	}
	return kind
}

// usualKind is how an instance is recovered without a recovery block; "" where
// its data goes along, or its node is given.
func usualKind(in *facts.Instance) string {
	if in.Node != "" || facts.KeepsDisk(in.Group.Def) {
		return ""
	}
	return api.RecoveryPermanent
}

// stay has a step wait that is to be done on the node of what it takes over
// from, while that takes nothing.
func (r *recoverer) stay(st *tree.Step, a *api.Allocation) {
	kind, until := r.RecoveredAs(st.On, a, r.Now)
	if kind != api.RecoveryTransient {
		return
	}
	switch n := r.Node(a); {
	case facts.IsSilent(n):
		st.Why = whyRecoveredThere
	case !n.IsReady():
		st.Why = "its node accepts no new allocations: it starts there if that changes by then, and on any other node after that"
	default:
		return
	}
	st.Status, st.Until, st.Action = tree.Delayed, until, tree.None
	if st.On.Alloc != nil {
		st.Action = tree.Later
	}
}

// comingUp shows a replacement that recovery has started, until it is well.
func (r *recoverer) comingUp(in *facts.Instance) tree.Step {
	a := in.Alloc
	st := tree.Step{On: in, Job: a.Job}
	switch {
	case a.DeploymentID != "":
		return tree.Step{}
	case in.Last != nil && in.Last.ID == a.PreviousAllocation && facts.NeedsRecovery(in.Last) && !r.IsDrained(in.Last):
		st.Why = in.Last.DesiredDescription
	case slices.ContainsFunc(in.Group.Behind, func(b *api.Allocation) bool { return b.ID == a.PreviousAllocation && r.IsSuspected(b) }):
		st.Why = whyBeside
	default:
		return tree.Step{}
	}
	switch {
	case in.State == facts.Placed:
		st.Status = tree.Starting
	case r.AwaitsHealth(in) && a.DeploymentStatus == nil:
		st.Status, st.Why = tree.Started, "it runs, and is not known to be healthy yet"
	default:
		return tree.Step{}
	}
	if a.Recovery != "" {
		st.MutableExtra().Recovery = a.Recovery
	} else if kind := usualKind(in); kind != "" {
		st.MutableExtra().Recovery = kind
	}
	return st
}

// A recoverer builds the plan recovery.
type recoverer struct {
	*Rollout
	dirty   *tree.DirtySet
	scratch *scratch
}

// buildRecovery derives the plan recovery; nil if nothing has to be recovered.
func buildRecovery(r *Rollout, dirty *tree.DirtySet, m *scratch) *tree.Tree {
	s := recoverer{Rollout: r, dirty: dirty, scratch: m}
	return s.recoveryTree()
}

// recoveryTree derives the plan that brings back what failed, was lost or was
// told to stop, and does to instances what operators ask for: a phase per
// instance that is not as it was, all at once. The version of an instance is
// never changed here.
func (r *recoverer) recoveryTree() *tree.Tree {
	var t *tree.Tree
	for _, g := range r.Groups {
		for in := range g.Every {
			if r.dirty.IsDirty(in) {
				continue
			}
			steps := r.recoverySteps(in)
			if len(steps) == 0 {
				continue
			}
			if t == nil {
				t = &tree.Tree{Name: api.PlanRecovery, Strategy: api.StrategyParallel}
			}
			t.Phases = append(t.Phases, &tree.Phase{
				Name: in.Name(), Group: g, Strategy: api.StrategyParallel, Steps: steps, Open: true,
			})
		}
	}
	return r.ruleRecovery(t)
}

// recoverySteps derives what is to be done about one instance.
func (r *recoverer) recoverySteps(in *facts.Instance) []tree.Step {
	alive := in.Alloc != nil && (in.State == facts.Placed || in.State == facts.Running)
	ordered := len(r.OrdersOn(in)) > 0
	if alive && !ordered { // as nearly all are: nothing is wrong with it as a whole
		steps := r.repairs(in)
		if len(steps) == 0 && (in.Last != nil || len(in.Group.Behind) > 0) {
			steps = r.comesUp(in)
		}
		return steps
	}
	if r.isLeaving(in) {
		return nil // the plan drain moves it
	}
	if st := r.recoveryStep(in); st.Status != "" {
		if in.Alloc != nil || in.Last != nil {
			if kind := r.recoveryShown(in, st.Until); kind != "" {
				st.MutableExtra().Recovery = kind
			}
		}
		if len(r.Job.Plans) > 0 && in.Group.Def != nil {
			st.Tasks = deployedTasks(r.Job, in.Group.Def)
		}
		steps := r.scratch.tree.StepsFor(1)
		steps[0] = st
		return steps
	}
	if !alive {
		return nil
	}
	steps := r.repairs(in)
	if st := r.restartOrdered(in); st.Status != "" {
		steps = append(steps, st)
	}
	if st := r.pauseStep(in); st.Status != "" {
		steps = append(steps, st)
	}
	if len(steps) == 0 {
		steps = r.comesUp(in)
	}
	return steps
}

// comesUp is the step of a replacement that recovery has started and that is not
// well yet, if the instance is one.
func (r *recoverer) comesUp(in *facts.Instance) []tree.Step {
	if st := r.comingUp(in); st.Status != "" {
		return []tree.Step{st}
	}
	return nil
}

// recoveryStep derives what is to be done about an instance as a whole; without
// status if nothing is.
func (r *recoverer) recoveryStep(in *facts.Instance) tree.Step {
	st := tree.Step{On: in, Job: r.OwnVersion(in)}
	if d := r.OrdersOn(in).ReplacedBy(in.Alloc); d != nil && !in.Closed {
		st.Action, st.Status, st.Why = tree.Replace, tree.Prepared, decision.Describe("replaced", d)
		return st
	}
	if r.IsAbandoned(in) {
		return tree.Step{} // the plan deploy says so
	}
	switch in.State {
	case facts.Vacant:
		if !r.recovers(in) {
			return tree.Step{}
		}
		st.Action, st.Status = tree.Start, tree.Prepared
		if in.Node != "" && (r.Stands == succeeded || r.Stands == notNeeded) {
			st.Job = r.Job // its node missed the rollout
		}
		if in.Last != nil {
			r.stay(&st, in.Last)
		}
	case facts.Lost:
		st.Action, st.Status, st.Why = tree.Replace, tree.Prepared, r.WhyLost(in.Alloc).Text()
	case facts.Unknown:
		switch {
		case in.Away == nil:
			return tree.Step{}
		case in.Away.Recovered:
			st.Status, st.Why, st.Until = tree.Delayed, whyRecoveredThere, in.Away.Until
		case in.IsReplaced():
			st.Action, st.Status, st.Why = tree.Start, tree.Prepared, "its node is out of reach"
		case in.Away.Until.IsZero():
			st.Status, st.Why = tree.Waiting, "its node is out of reach: no replacement starts until the node returns or is removed"
		default:
			st.Status, st.Why, st.Until = tree.Delayed, "its node is out of reach: no replacement starts until the allocation is given up", in.Away.Until
		}
	case facts.Moving:
		st.Action, st.Status, st.Why = tree.Replace, tree.Prepared, r.WhyMoved(in.Alloc).Text()
	case facts.Ended:
		if r.Job.RunsToCompletion() || in.Closed {
			return tree.Step{}
		}
		r.reschedule(&st, in, api.ReasonEnded)
	case facts.Failed:
		if in.Closed {
			return tree.Step{}
		}
		r.reschedule(&st, in, api.ReasonFailed)
	default:
		return tree.Step{}
	}
	return st
}

// reschedule applies the reschedule policy.
func (r *recoverer) reschedule(st *tree.Step, in *facts.Instance, why api.Reason) {
	a := r.AttemptAt(in)
	st.Delay, st.Reason, st.Why = a.Delay, why, why.Text()
	now := r.Now
	if r.Eval != nil && r.Eval.ID == in.Alloc.FollowupEvalID {
		now = now.Add(reschedule.Together) // what this evaluation was made for is due
	}
	switch {
	case a.Never:
		st.Status, st.Why = tree.Error, a.Why
	case a.Due.After(now) && r.Knows(in.Alloc):
		st.Action, st.Status, st.Until = tree.Later, tree.Delayed, a.Due
	default:
		st.Action, st.Status = tree.Replace, tree.Prepared
		r.stay(st, in.Alloc)
	}
}
