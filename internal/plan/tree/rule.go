// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
)

// ApplyRulings applies the operators' rulings to the tree: it holds the elements that
// they interrupted, and completes the steps that they forced. The plan itself restarts
// steps.
func (t *Tree) ApplyRulings(r *decision.Rulings) {
	if r == nil {
		return
	}
	t.Rulings = r
	if d := r.Plan.Held; d != nil {
		t.Held, t.HeldBy = true, d
	}
	steps := r.RulesSteps()
	for _, p := range t.Phases {
		on := r.OnPhase(p.Name)
		if p.released = on.Released; on.Held != nil {
			p.Held, p.HeldBy = true, on.Held
			for i := range p.Steps {
				p.Steps[i].Settles = false // it is not done now
			}
		}
		for i := range p.Steps {
			if !steps {
				break
			}
			st := &p.Steps[i]
			on := r.OnStep(p.Name, st.Key())
			switch {
			case on.Forced != nil && (st.Status != Complete || st.On != nil && st.On.Alloc == nil):
				st.force(on.Forced)
			case on.Forced != nil && on.Forced.Step != "":
				st.MutableExtra().Forced = on.Forced
			case on.Held != nil && st.begun():
				st.MutableExtra().Held = on.Held // goes on: it is too late to hold it
			case on.Held != nil && st.Status != Complete:
				st.MutableExtra().Held = on.Held
				st.Action, st.Status, st.Why, st.Settles = None, Waiting, decision.WhyHeld(on.Held), false
			}
		}
	}
}

// begun reports whether something is under way that holding the step does not
// stop.
func (st *Step) begun() bool {
	return st.Status == Starting || st.Status == Started || st.Action == Start && st.Status == Prepared
}

// Key is the step's name, told apart from those on other nodes.
func (st *Step) Key() string {
	if st.On != nil && st.On.Node != "" {
		return st.Name() + "@" + st.On.Node
	}
	return st.Name()
}

// ResetHeld has nothing that is held count as begun.
func (t *Tree) ResetHeld() {
	for _, p := range t.Phases {
		for i := range p.Steps {
			if st := &p.Steps[i]; (t.Held || p.Held) && st.Action == Replace && st.Status == Prepared {
				st.Status = Pending
			}
		}
	}
}

// Recovers reports whether the decision concerns the current recovery of an instance.
func (t *Tree) Recovers(d *api.Decision) bool {
	if t == nil {
		return false
	}
	for _, p := range t.Phases {
		if p.Name == d.Phase {
			return p.Steps[0].On.HolderID() == d.Allocation
		}
	}
	return false
}
