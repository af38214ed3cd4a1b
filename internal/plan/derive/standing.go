// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// The plans recovery, decommission, uninstall and drain go by themselves, again
// and again, without a run that a decision could belong to. So it has to be said
// of each for how long a decision on it holds.

// ruleRecovery applies what operators decided on the plan recovery. What they
// decided on one instance is on the allocation that it is to take the place of.
// What they decided on all of the plan holds until it is continued: so the plan
// is there then even if it has nothing to do.
func (s *recoverer) ruleRecovery(t *tree.Tree) *tree.Tree {
	r := s.Decisions.HoldsOn(api.PlanRecovery, func(d *api.Decision) bool { return d.Phase == "" || t.Recovers(d) })
	if t == nil && r != nil && r.Plan.Held != nil {
		t = &tree.Tree{Name: api.PlanRecovery, Strategy: api.StrategyParallel}
	}
	if t != nil {
		t.ApplyRulings(r)
		t.ResetHeld()
	}
	return t
}

// giveUpStep has a plan wait no longer for the end of an allocation that an
// operator gave up: it counts as lost.
func (l *leaver) giveUpStep(st *tree.Step, plan, phase string) {
	if d := l.Decisions.GivenUpBy(st.On.Alloc, plan, phase); d != nil {
		st.Action, st.Status, st.Settles = tree.Leave, tree.Pending, true
		st.Reason, st.Why = api.ReasonGivenUp, api.GivenUpText(d)
		st.MutableExtra().Forced = d
	}
}
