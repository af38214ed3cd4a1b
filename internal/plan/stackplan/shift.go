// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/plan/decision"
)

// Names of the phases of the plan shift.
const (
	phaseTraffic = "traffic" // a step per share, pause and wait
	phaseReverse = "reverse" // the way back
	stepReverse  = "0%"
)

// shift derives the plan of the newest shift to the stack while the stack is ready; nil if there was none.
func (l *Life) shift() *api.Plan {
	s := l.Shift
	if s == nil || l.Stack.Status != api.StackReady {
		return nil
	}
	p := l.plan(api.PlanShift)
	p.Run, p.Status, p.Since = s.ID, shiftStatus(s), s.StartedAt
	if !s.EndedAt.IsZero() {
		p.Since = s.EndedAt
	}
	p.Interrupted = s.Status == api.ShiftPaused
	if p.Interrupted {
		p.Message = s.Reason
	}
	for _, d := range l.Decisions {
		if d.Plan == api.PlanShift && d.Run == s.ID {
			p.Decisions = append(p.Decisions, d)
		}
	}
	p.Phases = append(p.Phases, l.trafficPhase(p))
	if isTurned(s) {
		p.Phases = append(p.Phases, l.reversePhase(p))
	}
	return count(p)
}

// isTurned reports whether the shift has turned back.
func isTurned(s *api.Shift) bool {
	switch s.Status {
	case api.ShiftReversing, api.ShiftReversed, api.ShiftSuperseded:
		return true
	}
	return false
}

func shiftStatus(s *api.Shift) api.PlanStatus {
	switch s.Status {
	case api.ShiftRunning, api.ShiftReversing:
		return api.PlanInProgress
	case api.ShiftPaused, api.ShiftWaiting:
		return api.PlanWaiting
	case api.ShiftComplete:
		return api.PlanComplete
	}
	return api.PlanError
}

// trafficPhase derives the way to the stack.
func (l *Life) trafficPhase(p *api.Plan) *api.Phase {
	s := l.Shift
	ph := l.phase(p, phaseTraffic, api.StrategySerial)
	stages := lifecycle.Stages(s)
	at := lifecycle.CurrentStage(s, stages)
	ph.Status, ph.Since = p.Status, p.Since
	for i, stage := range stages {
		switch {
		case i < at:
			l.step(p, ph, stage.Name, api.PlanComplete, "").Forced = forcedBy(p.Decisions, stage.Name, i == len(stages)-1)
		case i > at:
			l.step(p, ph, stage.Name, api.PlanPending, "comes after "+stages[i-1].Name)
		default:
			l.currentStep(p, ph, stage, stages)
		}
	}
	if s.Status == api.ShiftReversing {
		ph.Status = api.PlanPending
	}
	return ph
}

// forcedBy returns the decision that completed a step, or nil.
func forcedBy(decisions []*api.Decision, step string, last bool) *api.Decision {
	for _, d := range slices.Backward(decisions) {
		if d.Verb == api.VerbForceComplete && d.Phase != phaseReverse && (d.Step == step || d.Step == "" && last) {
			return d
		}
	}
	return nil
}

// currentStep adds the step in progress.
func (l *Life) currentStep(p *api.Plan, ph *api.Phase, stage lifecycle.Stage, stages []lifecycle.Stage) {
	s := l.Shift
	st := l.step(p, ph, stage.Name, api.PlanStarted, "")
	switch s.Status {
	case api.ShiftRunning:
		st.Message = l.progress(stage, stages)
	case api.ShiftPaused, api.ShiftWaiting:
		st.Status, st.Message = api.PlanWaiting, s.Reason
	case api.ShiftReversing:
		st.Status, st.Message = api.PlanPending, "not reached: "+s.Reason
	default:
		why := fmt.Sprintf("%s; all traffic is on %s", strings.TrimSpace(s.Reason), s.From)
		st.Status, st.Message, st.Errors = api.PlanError, why, []string{why}
	}
}

// progress describes the share of a running shift, and what delays it.
func (l *Life) progress(stage lifecycle.Stage, stages []lifecycle.Stage) string {
	s := l.Shift
	parts := []string{percent(s.Share) + " of the traffic"}
	end := lifecycle.StageEnd(s, stages)
	switch {
	case s.Held:
		parts = append(parts, "the share stands still: no instance of "+s.To+" takes requests")
	case s.Inconclusive > 0:
		parts = append(parts, fmt.Sprintf("the share stands still: the checks were inconclusive for %d of %d intervals", s.Inconclusive, lifecycle.MaxInconclusive))
	case stage.Pause > 0 || s.Spec.Policy == api.ShiftAtomic:
		parts = append(parts, "continues at "+decision.Clock(end.UnixNano()))
	case s.Spec.Policy != api.ShiftSteps:
		parts = append(parts, percent(stage.Share)+" at "+decision.Clock(end.UnixNano()))
	}
	for _, name := range slices.Sorted(maps.Keys(s.Failures)) {
		parts = append(parts, fmt.Sprintf("check %s has failed %d of %d times", name, s.Failures[name], lifecycle.FailuresAllowed(s)))
	}
	return strings.Join(parts, "; ")
}

// reversePhase derives the way back.
func (l *Life) reversePhase(p *api.Plan) *api.Phase {
	s := l.Shift
	ph := l.phase(p, phaseReverse, api.StrategySerial)
	ph.Status, ph.Since = api.PlanComplete, s.EndedAt
	if s.Status != api.ShiftReversing {
		l.step(p, ph, stepReverse, api.PlanComplete, "").Since = s.EndedAt
		return ph
	}
	ph.Status, ph.Since = api.PlanStarted, s.CheckedAt
	end := s.AdvancedAt.Add(s.ReverseOver - s.Elapsed)
	l.step(p, ph, stepReverse, api.PlanStarted, fmt.Sprintf("%s of the traffic; 0 %% at %s", percent(s.Share), decision.Clock(end.UnixNano())))
	return ph
}

func percent(share float64) string { return fmt.Sprintf("%.4g %%", share*100) }
