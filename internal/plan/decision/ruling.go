// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package decision

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A ruling is the result of all decisions on a plan, a phase or a step, applied in
// their order.
type ruling struct {
	Held   *api.Decision // newest interrupt without a later continue
	Forced *api.Decision // newest force-complete
	Again  *api.Decision // newest restart
	// Released are the continues that ended no interrupt: the first lets a canary
	// begin, the second lets the others begin.
	Released []*api.Decision
}

// Rulings are the results of all decisions on one run of a plan. Nil means no
// decision.
type Rulings struct {
	Plan   ruling
	phases map[string]*ruling
	steps  map[stepKey]*ruling
	All    []*api.Decision // decisions on the run, oldest first
}

type stepKey struct{ phase, step string }

func (r *Rulings) apply(d *api.Decision) {
	r.All = append(r.All, d)
	if strings.Contains(d.Phase, " ") { // several phases at once; no name has spaces
		for _, name := range strings.Fields(d.Phase) {
			r.decide(r.at(name, ""), d)
		}
		return
	}
	r.decide(r.at(d.Phase, d.Step), d)
}

// decide applies the decision to one element.
func (r *Rulings) decide(on *ruling, d *api.Decision) {
	switch d.Verb {
	case api.VerbInterrupt:
		on.Held = d
	case api.VerbContinue:
		if on.Held != nil {
			on.Held = nil
		} else {
			on.Released = append(on.Released, d)
		}
	case api.VerbForceComplete:
		on.Forced = d
	case api.VerbRestart:
		on.Again, on.Held = d, nil
	}
}

// at finds the element's ruling, to be changed.
func (r *Rulings) at(phase, step string) *ruling {
	switch {
	case phase == "":
		return &r.Plan
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

// OnPhase returns the ruling on a phase itself.
func (r *Rulings) OnPhase(name string) ruling {
	if r == nil || r.phases[name] == nil {
		return ruling{}
	}
	return *r.phases[name]
}

// OnStep returns the ruling on a step. A force-complete or restart of its phase or
// plan counts for the step, too; the newest of them wins.
func (r *Rulings) OnStep(phase, step string) ruling {
	if r == nil {
		return ruling{}
	}
	var on ruling
	if own := r.steps[stepKey{phase, step}]; own != nil {
		on = *own
	}
	for _, above := range []ruling{r.OnPhase(phase), r.Plan} {
		on.Forced, on.Again = newest(on.Forced, above.Forced), newest(on.Again, above.Again)
	}
	if on.Forced != nil && on.Again != nil {
		if newest(on.Forced, on.Again) == on.Forced {
			on.Again = nil
		} else {
			on.Forced = nil
		}
	}
	return on
}

// RulesSteps reports whether a decision concerns single steps.
func (r *Rulings) RulesSteps() bool {
	if r == nil {
		return false
	}
	if len(r.steps) > 0 || r.Plan.Forced != nil || r.Plan.Again != nil {
		return true
	}
	for _, on := range r.phases {
		if on.Forced != nil || on.Again != nil {
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

// WhyHeld says who holds an element, since when, and why.
func WhyHeld(d *api.Decision) string {
	text := "interrupted by " + OrUnknown(d.By) + " at " + Clock(d.Time)
	if d.Reason != "" {
		text += ": " + d.Reason
	}
	return text
}

func OrUnknown(by string) string {
	if by == "" {
		return "unknown"
	}
	return by
}

// Clock writes a time as people read it in messages.
func Clock(nanoseconds int64) string {
	return time.Unix(0, nanoseconds).UTC().Format("15:04:05")
}
