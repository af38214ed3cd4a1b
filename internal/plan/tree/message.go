// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/reschedule"
)

// This file explains statuses: what a waiting element waits for, and since when.

// HoldReason says why the plan waits; "" if it does not. D is the job's deployment.
func (t *Tree) HoldReason(d *api.Deployment) string {
	switch {
	case t.Message != "":
		return t.Message
	case t.HeldBy != nil:
		return decision.WhyHeld(t.HeldBy)
	case t.Held && d != nil && t.Name == api.PlanDeploy:
		return "its deployment is " + d.Status
	}
	return ""
}

// WaitReason says, where no phases are shown, what keeps a plan in a status in which
// it waits: the reason of the first phase that does.
func (t *Tree) WaitReason(is Status) string {
	if is != Waiting && is != Delayed {
		return ""
	}
	for _, ph := range t.Phases {
		count := ph.Tally()
		if count.status(ph.Held) != is {
			continue
		}
		why := ph.Explain(t, is)
		for i := 0; i < len(ph.Steps) && why == ""; i++ {
			if st := &ph.Steps[i]; st.Status == is {
				why = st.Why
			}
		}
		if why != "" {
			return "phase " + ph.Name + ": " + why
		}
	}
	return ""
}

// ResumesAt returns the time at which the first of the plan's DELAYED steps continues;
// zero if it is not known.
func (t *Tree) ResumesAt() (at time.Time) {
	for _, ph := range t.Phases {
		for i := range ph.Steps {
			if st := &ph.Steps[i]; st.Status == Delayed && !st.Until.IsZero() && (at.IsZero() || st.Until.Before(at)) {
				at = st.Until
			}
		}
	}
	return at
}

// Explain says why the phase waits; "" if it does not.
func (p *Phase) Explain(t *Tree, is Status) string {
	switch {
	case p.why != "":
		return p.why
	case is == Complete, is == Error:
		return ""
	case p.HeldBy != nil:
		return decision.WhyHeld(p.HeldBy)
	case p.Waits > 0 && is == Waiting:
		return p.canaryReason()
	case p.Waiter != nil:
		return ""
	case !p.Open && !t.Held:
		if before := t.before(p); before != "" {
			return ComesAfter + "phase " + before
		}
	}
	return ""
}

// canaryReason says what a canary phase waits for: the step that was let begin, as long
// as it is under way; else an operator.
func (p *Phase) canaryReason() string {
	for i := range p.Steps {
		st := &p.Steps[i]
		switch is := st.Shown(); is {
		case Prepared, Starting, Started, Delayed:
			return "canary: " + st.Key() + " is " + string(is) + "; the rest waits for continue"
		}
	}
	return WhyCanary
}

// before names the phase that the given one waits for.
func (t *Tree) before(p *Phase) string {
	for _, other := range t.Phases {
		switch {
		case other == p:
			if t.Strategy != api.StrategyDependency {
				return ""
			}
		case other.IsComplete():
		case t.Strategy == api.StrategyDependency && !slices.Contains(p.After, other.Name):
		default:
			return other.Name
		}
	}
	return ""
}

// ComesAfter begins the messages of what waits for nothing but its turn.
const ComesAfter = "comes after "

// QueueReason says what a step that has not begun comes after.
func (p *Phase) QueueReason(t *Tree, st, ahead *Step) string {
	switch {
	case t.Held, p.Held:
		return "" // the plan or the phase says so
	case st.Next:
		return "" // it is its turn
	case !p.Open:
		if before := t.before(p); before != "" {
			return ComesAfter + "phase " + before
		}
	case ahead != nil && ahead != st:
		return ComesAfter + ahead.Key()
	}
	return ""
}

// Since is when the step was last seen to move; zero if that is not known.
func (st *Step) Since() (at time.Time) {
	its := st.ExtraOrZero()
	switch {
	case its.Forced != nil:
		return time.Unix(0, its.Forced.Time)
	case its.Held != nil:
		return time.Unix(0, its.Held.Time)
	case st.On == nil || st.On.Alloc == nil:
		return at
	}
	a := st.On.Alloc
	switch st.Shown() {
	case Complete:
		return reachedAt(a)
	case Started:
		for _, t := range a.TaskStates {
			if t.StartedAt.After(at) {
				at = t.StartedAt
			}
		}
	case Starting:
		at = time.Unix(0, a.CreateTime)
		if a.Launches != nil || a.DesiredStatus == api.AllocDesiredStop {
			at = time.Unix(0, a.ModifyTime) // when it was told last
		}
	case Delayed, Error:
		if a.IsClientTerminal() {
			at = reschedule.FailedAt(a)
		}
	}
	return at
}
