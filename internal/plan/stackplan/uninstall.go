// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/derive"
)

// phaseGrace is the name of the phase before a stack's instances are stopped, and of its step.
const phaseGrace = "grace"

// uninstall derives the plan of a stack that waits for the end of its grace; nil for any other stack.
func (l *Life) uninstall() *api.Plan {
	s := l.Stack
	if l.Job == nil || s.Status != api.StackGarbage && s.Status != api.StackFailed {
		return nil
	}
	p := l.plan(api.PlanUninstall)
	grace := l.phase(p, phaseGrace, api.StrategySerial)
	l.graceStep(p, grace)
	p.Status, p.Since, p.Interrupted = grace.Status, s.StatusSince, grace.Status == api.PlanWaiting
	switch {
	case p.Status == api.PlanDelayed:
		p.Until = s.Expires
	case p.Interrupted:
		p.Message = grace.Steps[0].Message
	}
	kill := l.killPhase(p)
	forget := l.phase(p, derive.PhaseDeregister, api.StrategySerial)
	forget.Status, forget.After = api.PlanPending, []string{derive.PhaseKill}
	l.step(p, forget, derive.PhaseDeregister, api.PlanPending, "comes after phase "+derive.PhaseKill)
	p.Phases = []*api.Phase{grace, kill, forget}
	for _, d := range l.Decisions {
		if d.Plan == api.PlanUninstall {
			p.Decisions = append(p.Decisions, d)
		}
	}
	return count(p)
}

// killPhase derives the phase after the grace. It starts as a whole, when all nodes with instances of
// the stack answer.
func (l *Life) killPhase(p *api.Plan) *api.Phase {
	ph := l.phase(p, derive.PhaseKill, api.StrategyParallel)
	ph.Status, ph.After = api.PlanPending, []string{phaseGrace}
	if l.Stack.Removing {
		p.Status, ph.Status = api.PlanInProgress, api.PlanPending
	}
	for _, a := range l.Allocations {
		if a.IsClientTerminal() {
			continue
		}
		st := l.step(p, ph, derive.KillName(a.Group, a.Index(), a.ID), api.PlanPending, "")
		st.Group, st.Index, st.Allocation, st.Node = a.Group, a.Index(), a.ID, a.NodeID
		switch {
		case !l.Stack.Removing:
			st.Message = "comes after phase " + phaseGrace
		case l.IsSilent(a.NodeID):
			st.Status, st.Message = api.PlanPrepared, whySilent
			ph.Status = api.PlanPrepared
		}
	}
	slices.SortFunc(ph.Steps, func(a, b *api.Step) int { return strings.Compare(a.Name, b.Name) })
	return ph
}

const whySilent = "its node does not answer; force-complete phase " + derive.PhaseKill + " to give it up"

// Unconfirmed returns the allocations whose end no node could confirm now, because their nodes do not
// answer, unless an operator gave them up. The job of the stack is not purged before all ends are confirmed.
func (l *Life) Unconfirmed() (all []*api.Allocation) {
	for _, d := range l.Decisions {
		if d.Plan == api.PlanUninstall && d.Verb == api.VerbForceComplete && d.Phase == derive.PhaseKill {
			return nil
		}
	}
	for _, a := range l.Allocations {
		if !a.IsClientTerminal() && l.IsSilent(a.NodeID) {
			all = append(all, a)
		}
	}
	return all
}

// graceStep adds the step that ends with the grace of the stack.
func (l *Life) graceStep(p *api.Plan, ph *api.Phase) {
	s := l.Stack
	st := l.step(p, ph, phaseGrace, api.PlanDelayed, s.Status+": "+s.StatusText())
	st.Since = s.StatusSince
	switch {
	case s.Removing:
		st.Status, st.Message = api.PlanComplete, ""
	case s.IsHeld(l.Now):
		st.Status, st.Message, st.Since = api.PlanWaiting, heldBy(s.Hold), s.Hold.Since
	case s.Verdict != nil && s.Verdict.Reason == api.KeptStale:
		st.Status, st.Message = api.PlanPrepared, st.Message+"; the grace does not end while "+lifecycle.Explain(s.Verdict)
	case !s.Expires.After(l.Now):
		st.Status, st.Message = api.PlanPrepared, st.Message+"; the next sweep removes it"
	default:
		st.Until = s.Expires
	}
	if st.Status == api.PlanComplete {
		st.Forced = forcedGrace(l.Decisions)
	}
	ph.Status, ph.Since = st.Status, st.Since
}

func heldBy(h *api.StackHold) string {
	text := "held by " + decision.OrUnknown(h.By) + " at " + decision.Clock(h.Since.UnixNano())
	if h.Reason != "" {
		text += ": " + h.Reason
	}
	if !h.Until.IsZero() {
		text += "; until " + h.Until.UTC().Format("2006-01-02 15:04:05")
	}
	return text
}

// forcedGrace returns the decision that ended the grace, or nil.
func forcedGrace(decisions []*api.Decision) *api.Decision {
	for _, d := range slices.Backward(decisions) {
		if d.Plan == api.PlanUninstall && d.Verb == api.VerbForceComplete && d.Phase == phaseGrace {
			return d
		}
	}
	return nil
}

// addGrace adds the completed grace to the plan uninstall of a job that is being purged, or was.
func (l *Life) addGrace(p *api.Plan) {
	switch l.Stack.Status {
	case api.StackGarbage, api.StackFailed, api.StackTerminated:
	default:
		return // an operator purged the job
	}
	grace := l.phase(p, phaseGrace, api.StrategySerial)
	grace.Status, grace.Completed, grace.Total = api.PlanComplete, 1, 1
	l.step(p, grace, phaseGrace, api.PlanComplete, "").Forced = forcedGrace(p.Decisions)
	p.Completed, p.Total = p.Completed+1, p.Total+1
	if p.Phases != nil {
		p.Phases = slices.Insert(p.Phases, 0, grace)
	}
	switch p.Status {
	case api.PlanPending, api.PlanStarting, api.PlanStarted:
		p.Status = api.PlanInProgress
	}
}
