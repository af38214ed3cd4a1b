// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// holds says what the job waits for an operator with; "" if it does not. A job
// that an operator holds is not over, although nothing of it may run. Rolling
// restarts, drains and custom plans are left out: they work on allocations that
// are alive.
func (w *work) holds() string {
	if w.job == nil || w.job.Failure != nil {
		return ""
	}
	for _, t := range w.trees {
		switch t.name {
		case api.PlanDeploy, api.PlanRecovery, api.PlanDecommission, api.PlanUninstall:
			if why := w.holdsTree(t); why != "" {
				return "plan " + t.name + ": " + why
			}
		}
	}
	return ""
}

func (w *work) holdsTree(t *tree) string {
	for _, p := range t.phases {
		switch {
		case t.held:
			if w.hasRest(p) {
				return t.holdReason(w.deployment)
			}
		case p.canaries:
			if p.waitsForPromotion() {
				return "the canaries of group " + p.group.name + " wait for promotion"
			}
		case !p.open || p.unpromoted:
		case p.held:
			if w.hasRest(p) {
				return "phase " + p.name + ": " + whyHeld(p.heldBy)
			}
		case p.waits > 0:
			if w.hasRest(p) {
				return "phase " + p.name + ": " + whyCanary
			}
		default:
			if why := w.holdsStep(t, p); why != "" {
				return why
			}
		}
	}
	return ""
}

// hasRest reports whether steps of the phase have yet to be begun.
func (w *work) hasRest(p *phase) bool {
	for i := range p.steps {
		st := &p.steps[i]
		isLater := i > 0 && st.on != nil && p.steps[i-1].on == st.on
		if w.isBegunElsewhere(st) && !isLater { // recovery begins the first step of an instance
			continue
		}
		switch st.shown() {
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

// isBegunElsewhere reports whether another plan does now what the step is about:
// recovery brings an instance back at the newest version.
func (w *work) isBegunElsewhere(st *step) bool {
	return st.on != nil && w.asked[st.on.number] && w.ownVersion(st.on) == w.job
}

// holdsStep says why a step of the phase is held by itself.
func (w *work) holdsStep(t *tree, p *phase) string {
	if !t.rulings.rulesSteps() {
		return ""
	}
	for i := range p.steps {
		if st := &p.steps[i]; st.status == Waiting && st.extraOrZero().held != nil && !w.isBegunElsewhere(st) {
			return st.name() + ": " + whyHeld(st.extraOrZero().held)
		}
	}
	return ""
}

// waitsForPromotion reports whether the phase's canaries are well, and wait for
// somebody to promote them.
func (p *phase) waitsForPromotion() bool {
	return len(p.steps) > 0 && p.areHealthy() && !of(p.group.def.Update.AutoPromote)
}
