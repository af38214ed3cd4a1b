// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// holds says what the job waits for an operator with; "" if it does not. A job
// that an operator holds is not over, although nothing of it may run. Rolling
// restarts, drains and custom plans are left out: they work on allocations that
// are alive.
func (w *work) holds() string {
	if w.Job == nil || w.Job.Failure != nil {
		return ""
	}
	for _, t := range w.Trees {
		switch t.Name {
		case api.PlanDeploy, api.PlanRecovery, api.PlanDecommission, api.PlanUninstall:
			if why := w.holdsTree(t); why != "" {
				return "plan " + t.Name + ": " + why
			}
		}
	}
	return ""
}

func (w *work) holdsTree(t *tree.Tree) string {
	for _, p := range t.Phases {
		switch {
		case t.Held:
			if w.hasRest(p) {
				return t.HoldReason(w.Deployment)
			}
		case p.Canaries:
			if p.WaitsForPromotion() {
				return "the canaries of group " + p.Group.Name + " wait for promotion"
			}
		case !p.Open || p.Unpromoted:
		case p.Held:
			if w.hasRest(p) {
				return "phase " + p.Name + ": " + decision.WhyHeld(p.HeldBy)
			}
		case p.Waits > 0:
			if w.hasRest(p) {
				return "phase " + p.Name + ": " + tree.WhyCanary
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
func (w *work) hasRest(p *tree.Phase) bool {
	for i := range p.Steps {
		st := &p.Steps[i]
		isLater := i > 0 && st.On != nil && p.Steps[i-1].On == st.On
		if w.isBegunElsewhere(st) && !isLater { // recovery begins the first step of an instance
			continue
		}
		switch st.Shown() {
		case tree.Pending, tree.Waiting, tree.Delayed:
			return true
		case tree.Prepared:
			if !st.Next {
				return true
			}
		}
	}
	return false
}

// isBegunElsewhere reports whether another plan does now what the step is about:
// recovery brings an instance back at the newest version.
func (w *work) isBegunElsewhere(st *tree.Step) bool {
	return st.On != nil && w.asked[st.On.Number] && w.OwnVersion(st.On) == w.Job
}

// holdsStep says why a step of the phase is held by itself.
func (w *work) holdsStep(t *tree.Tree, p *tree.Phase) string {
	if !t.Rulings.RulesSteps() {
		return ""
	}
	for i := range p.Steps {
		if st := &p.Steps[i]; st.Status == tree.Waiting && st.ExtraOrZero().Held != nil && !w.isBegunElsewhere(st) {
			return st.Name() + ": " + decision.WhyHeld(st.ExtraOrZero().Held)
		}
	}
	return ""
}
