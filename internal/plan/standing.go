// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// The plans recovery, decommission, uninstall and drain go by themselves, again
// and again, without a run that a decision could belong to. So it has to be said
// of each for how long a decision on it holds.

// holdsOn are the rulings that hold the plan, or let it go on.
func (s *survey) holdsOn(plan string, bears func(*api.Decision) bool) *rulings {
	return s.rulingsOf(plan, func(d *api.Decision) bool {
		return (d.Verb == api.VerbInterrupt || d.Verb == api.VerbContinue) && bears(d)
	})
}

// ruleRecovery applies what operators decided on the plan recovery. What they
// decided on one instance is on the allocation that it is to take the place of.
// What they decided on all of the plan holds until it is continued: so the plan
// is there then even if it has nothing to do.
func (s *survey) ruleRecovery(t *tree) *tree {
	r := s.holdsOn(api.PlanRecovery, func(d *api.Decision) bool { return d.Phase == "" || t.recovers(d) })
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
func (s *survey) giveUpStep(st *step, plan, phase string) {
	if d := s.givenUp(st.on.alloc, plan, phase); d != nil {
		st.action, st.status, st.why, st.settles = leave, Pending, describeDecision("given up", d), true
		st.mutableExtra().forced = d
	}
}

// givenUp is the decision that gives the allocation up; nil if there is none.
func (s *survey) givenUp(a *api.Allocation, plan, phase string) *api.Decision {
	for _, d := range s.decided() {
		switch {
		case d.Plan != plan || d.Verb != api.VerbForceComplete || !s.isOnVersion(d):
		case d.Step == "" && (d.Phase == "" || d.Phase == phase), d.Step != "" && d.Allocation == a.ID:
			return d
		}
	}
	return nil
}
