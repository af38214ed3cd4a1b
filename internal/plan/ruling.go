// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A ruling is what the operators' decisions on a plan, a phase or a step come to:
// each was applied in its turn to what the ones before it had left.
type ruling struct {
	held   *api.Decision // interrupts it, and nobody has continued it since
	forced *api.Decision // newest that completes it
	again  *api.Decision // newest that has it done again
	// released are the continues that came while nobody interrupted it: the
	// first lets a canary begin, the second the others.
	released []*api.Decision
}

// Rulings are what the decisions on one run of a plan come to. Nil: there are
// none.
type rulings struct {
	plan   ruling
	phases map[string]*ruling
	steps  map[stepKey]*ruling
	all    []*api.Decision // that bear on it, oldest first
}

type stepKey struct{ phase, step string }

func (r *rulings) apply(d *api.Decision) {
	r.all = append(r.all, d)
	if strings.Contains(d.Phase, " ") { // several phases at once; no name has spaces
		for _, name := range strings.Fields(d.Phase) {
			r.decide(r.at(name, ""), d)
		}
		return
	}
	r.decide(r.at(d.Phase, d.Step), d)
}

// decide applies the decision to one element.
func (r *rulings) decide(on *ruling, d *api.Decision) {
	switch d.Verb {
	case api.VerbInterrupt:
		on.held = d
	case api.VerbContinue:
		if on.held != nil {
			on.held = nil
		} else {
			on.released = append(on.released, d)
		}
	case api.VerbForceComplete:
		on.forced = d
	case api.VerbRestart:
		on.again, on.held = d, nil
	}
}

// at finds the element's ruling, to be changed.
func (r *rulings) at(phase, step string) *ruling {
	switch {
	case phase == "":
		return &r.plan
	case step == "":
		return in(&r.phases, phase)
	}
	return in(&r.steps, stepKey{phase, step})
}

func in[K comparable](m *map[K]*ruling, key K) *ruling {
	if *m == nil {
		*m = make(map[K]*ruling)
	}
	if (*m)[key] == nil {
		(*m)[key] = &ruling{}
	}
	return (*m)[key]
}

// onPhase is what was decided on a phase itself.
func (r *rulings) onPhase(name string) ruling {
	if r == nil || r.phases[name] == nil {
		return ruling{}
	}
	return *r.phases[name]
}

// onStep is what holds for a step: what was decided on it, and of completing it
// and doing it again also what was decided on its phase or plan. Of these two
// the newest counts.
func (r *rulings) onStep(phase, step string) ruling {
	if r == nil {
		return ruling{}
	}
	var on ruling
	if own := r.steps[stepKey{phase, step}]; own != nil {
		on = *own
	}
	for _, above := range []ruling{r.onPhase(phase), r.plan} {
		on.forced, on.again = newest(on.forced, above.forced), newest(on.again, above.again)
	}
	if on.forced != nil && on.again != nil {
		if newest(on.forced, on.again) == on.forced {
			on.again = nil
		} else {
			on.forced = nil
		}
	}
	return on
}

// rulesSteps reports whether anything was decided that concerns single steps.
func (r *rulings) rulesSteps() bool {
	if r == nil {
		return false
	}
	if len(r.steps) > 0 || r.plan.forced != nil || r.plan.again != nil {
		return true
	}
	for _, on := range r.phases {
		if on.forced != nil || on.again != nil {
			return true
		}
	}
	return false
}

// newest returns the decision that was taken later; either may be nil.
func newest(a, b *api.Decision) *api.Decision {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	case a.CreateIndex != b.CreateIndex:
		if a.CreateIndex > b.CreateIndex {
			return a
		}
		return b
	case b.Time > a.Time:
		return b
	}
	return a
}

// rule applies what operators decided to the tree: what they hold is held, what
// they completed is complete. What is to be done again is up to the plan.
func (t *tree) rule(r *rulings) {
	if r == nil {
		return
	}
	t.rulings = r
	if d := r.plan.held; d != nil {
		t.held, t.heldBy = true, d
	}
	steps := r.rulesSteps()
	for _, p := range t.phases {
		on := r.onPhase(p.name)
		if p.released = on.released; on.held != nil {
			p.held, p.heldBy = true, on.held
			for i := range p.steps {
				p.steps[i].settles = false // it is not done now
			}
		}
		for i := range p.steps {
			if !steps {
				break
			}
			st := &p.steps[i]
			on := r.onStep(p.name, st.key())
			switch {
			case on.forced != nil && (st.status != Complete || st.on != nil && st.on.alloc == nil):
				st.force(on.forced)
			case on.forced != nil && on.forced.Step != "":
				st.mutableExtra().forced = on.forced
			case on.held != nil && st.begun():
				st.mutableExtra().held = on.held // goes on: it is too late to hold it
			case on.held != nil && st.status != Complete:
				st.mutableExtra().held = on.held
				st.action, st.status, st.why, st.settles = none, Waiting, whyHeld(on.held), false
			}
		}
	}
}

// begun reports whether something is under way that holding the step does not
// stop.
func (st *step) begun() bool {
	return st.status == Starting || st.status == Started || st.action == start && st.status == Prepared
}

// key is the step's name, told apart from those on other nodes.
func (st *step) key() string {
	if st.on != nil && st.on.node != "" {
		return st.name() + "@" + st.on.node
	}
	return st.name()
}

// whyHeld says who holds an element, since when, and why.
func whyHeld(d *api.Decision) string {
	text := "interrupted by " + orUnknown(d.By) + " at " + clock(d.Time)
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

func orUnknown(by string) string {
	if by == "" {
		return "unknown"
	}
	return by
}

// clock writes a time as people read it in messages.
func clock(nanoseconds int64) string {
	return time.Unix(0, nanoseconds).UTC().Format("15:04:05")
}
