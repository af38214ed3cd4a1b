// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// The plans recovery, decommission, uninstall and drain go by themselves, again
// and again, without a run that a decision could belong to. So it has to be said
// of each for how long a decision on it holds.

// ruleRecovery applies what operators decided on the plan recovery. What they
// decided on one instance is on the allocation that it is to take the place of.
// What they decided on all of the plan holds until it is continued: so the plan
// is there then even if it has nothing to do.
func (s *recoverer) ruleRecovery(t *tree) *tree {
	r := s.decisions.holdsOn(api.PlanRecovery, func(d *api.Decision) bool { return d.Phase == "" || t.recovers(d) })
	if t == nil && r != nil && r.plan.held != nil {
		t = &tree{name: api.PlanRecovery, strategy: api.StrategyParallel}
	}
	if t != nil {
		t.rule(r)
		t.pend()
	}
	return t
}

// pend has nothing that is held count as begun.
func (t *tree) pend() {
	for _, p := range t.phases {
		for i := range p.steps {
			if st := &p.steps[i]; (t.held || p.held) && st.action == replace && st.status == Prepared {
				st.status = Pending
			}
		}
	}
}

// recovers reports whether the decision is on an instance as it is recovered now.
func (t *tree) recovers(d *api.Decision) bool {
	if t == nil {
		return false
	}
	for _, p := range t.phases {
		if p.name == d.Phase {
			return p.steps[0].on.was() == d.Allocation
		}
	}
	return false
}

// was is the id of the allocation that holds the instance, or held it last.
func (i *instance) was() string {
	switch {
	case i.alloc != nil:
		return i.alloc.ID
	case i.last != nil:
		return i.last.ID
	}
	return ""
}

// giveUpStep has a plan wait no longer for the end of an allocation that an
// operator gave up: it counts as lost.
func (s *leaver) giveUpStep(st *step, plan, phase string) {
	if d := s.decisions.givenUp(st.on.alloc, plan, phase); d != nil {
		st.action, st.status, st.settles = leave, Pending, true
		st.reason, st.why = api.ReasonGivenUp, api.GivenUpText(d)
		st.mutableExtra().forced = d
	}
}
