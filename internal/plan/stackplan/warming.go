// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package stackplan

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/plan/decision"
)

// Names of the parts of the plan warming.
const (
	phaseWarming = "warming"
	stepHealthy  = "healthy" // most instances take requests
	stepTurn     = "turn"    // no other stack of the unit is promoted first
)

// warming derives the plan warming: nil if nothing warms the stack, or it is warm.
func (l *Life) warming() *api.Plan {
	s := l.Stack
	if s.Shape != api.ShapeService {
		return nil
	}
	p := l.plan(api.PlanWarming)
	ph := l.phase(p, phaseWarming, api.StrategySerial)
	p.Phases = []*api.Phase{ph}
	healthy := l.step(p, ph, stepHealthy, api.PlanPending, "comes after plan "+api.PlanDeploy)
	turn := l.step(p, ph, stepTurn, api.PlanPending, "comes after "+stepHealthy)
	switch s.Status {
	case api.StackPending, api.StackDeploying:
		p.Status = api.PlanPending
	case api.StackWarming:
		p.Status, p.Since = api.PlanStarted, s.RunningAt
		w := l.warmth()
		if !w.IsHealthy() {
			healthy.Status, healthy.Since = api.PlanStarted, s.RunningAt
			healthy.Message = fmt.Sprintf("%d of %d instances take requests; the stack fails at %s unless most of them do",
				w.Passing, w.Passing+w.Failing, decision.Clock(s.Expires.UnixNano()))
			break
		}
		healthy.Status, healthy.Message = api.PlanComplete, ""
		turn.Status, turn.Message = api.PlanStarted, ""
		switch s.StatusReason {
		case api.ReasonStackWaitsHealth, api.ReasonStackWaitsShift, api.ReasonStackWaitsEarlier:
			turn.Message = s.StatusText()
		}
		p.Status = api.PlanInProgress
	case api.StackFailed:
		if s.RunningAt.IsZero() {
			return nil // it failed before it could warm
		}
		healthy.Status, healthy.Message, healthy.Errors = api.PlanError, s.StatusText(), []string{s.StatusText()}
		p.Status, p.Since = api.PlanError, s.StatusSince
	default:
		return nil
	}
	ph.Status, ph.Since = p.Status, p.Since
	return count(p)
}

// warmth counts the instances that take requests.
func (l *Life) warmth() (w lifecycle.Warmth) {
	for _, a := range l.Allocations {
		switch {
		case a.IsServerTerminal():
		case a.IsRoutable():
			w.Passing++
		default:
			w.Failing++
		}
	}
	return w
}
