// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// holds says what the job waits for an operator with; "" if it does not. A job
// that an operator holds is not over, although nothing of it may run. Rolling
// restarts, drains and custom plans are left out: they work on allocations that
// are alive.
func (s *survey) holds(trees []*tree) string {
	if s.job == nil || s.job.Failure != nil {
		return ""
	}
	for _, t := range trees {
		switch t.name {
		case api.PlanDeploy, api.PlanRecovery, api.PlanDecommission, api.PlanUninstall:
			if why := s.holdsTree(t); why != "" {
				return "plan " + t.name + ": " + why
			}
		}
	}
	return ""
}

func (s *survey) holdsTree(t *tree) string {
	for _, p := range t.phases {
		switch {
		case t.held:
			if p.hasRest() {
				return s.saying(t)
			}
		case p.canaries:
			if p.waitsForPromotion() {
				return "the canaries of group " + p.group.name + " wait for promotion"
			}
		case !p.open || p.unpromoted:
		case p.held:
			if p.hasRest() {
				return "phase " + p.name + ": " + whyHeld(p.heldBy)
			}
		case p.waits > 0:
			return "phase " + p.name + ": " + whyCanary
		default:
			if why := p.holdsStep(t); why != "" {
				return why
			}
		}
	}
	return ""
}

// hasRest reports whether steps of the phase have yet to be begun.
func (p *phase) hasRest() bool {
	for i := range p.steps {
		switch st := &p.steps[i]; st.shown() {
		case Pending, Waiting, Delayed:
			return true
		case Prepared:
			if !st.next {
				return true
			}
		}
	}
	return false
}

// holdsStep says why a step of the phase is held by itself.
func (p *phase) holdsStep(t *tree) string {
	if !t.rulings.rulesSteps() {
		return ""
	}
	for i := range p.steps {
		if st := &p.steps[i]; st.status == Waiting && st.its().held != nil {
			return st.name() + ": " + whyHeld(st.its().held)
		}
	}
	return ""
}

// waitsForPromotion reports whether the phase's canaries are well, and wait for
// somebody to promote them.
func (p *phase) waitsForPromotion() bool {
	return len(p.steps) > 0 && p.areHealthy() && !of(p.group.def.Update.AutoPromote)
}
