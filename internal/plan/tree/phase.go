// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// A Phase is a list of steps of one plan under one strategy.
type Phase struct {
	Name     string
	Group    *facts.Group // that all of its steps are about; nil if of several
	Strategy string       // one of the api.Strategy constants
	After    []string
	Node     *api.Node // that is drained
	Steps    []Step
	Limit    int           // of a serial one: steps under way at a time; 0: no limit
	Most     int           // that a generated one shows as its limit, also while there is nothing to protect
	Stagger  time.Duration // between a step's completion and the next one's begin
	Rolling  bool          // it waits for the phases before it, and holds up those after
	// Canaries is set in the phase of a group's canaries, and Unpromoted in the other
	// phases of the group until the canaries are promoted.
	Canaries, Unpromoted bool
	// Reverts reports whether it reverts to a stable version: failed instances are
	// replaced immediately.
	Reverts bool
	// Open reports whether the phases before it let it begin.
	Open   bool
	Held   bool // by an operator
	HeldBy *api.Decision
	why    string // reason of its status
	// Of a canary phase: the continues of operators, and the number of steps that wait
	// for one. Uncanary reports whether it needs none.
	released []*api.Decision
	Waits    int
	waiting  *Step // the first of them
	Uncanary bool
	// Until is the time at which a staggered phase continues; Waiter is the allocation
	// that it waits after.
	Until  time.Time
	Waiter *api.Allocation
	Chosen []*Step // candidates, in the order of their execution
}

// IsComplete reports whether every step is, or will be with this evaluation.
func (p *Phase) IsComplete() bool {
	for i := range p.Steps {
		if !p.Steps[i].isSettled() {
			return false
		}
	}
	return true
}

// underWay counts the steps that are begun and not complete.
func (p *Phase) underWay() (n int) {
	for i := range p.Steps {
		if s := &p.Steps[i]; s.Action == None && s.Status != Complete && s.Status != Waiting {
			n++
		}
	}
	return n
}

// begins reports whether the phase may begin new steps.
func (p *Phase) begins() bool { return p.Open && !p.Held }

// ResolveAfter finds the steps that declared ones name.
func (p *Phase) ResolveAfter() {
	if p.Strategy != api.StrategyDependency {
		return
	}
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Extra == nil || st.Extra.Spec == nil || len(st.Extra.Spec.After) == 0 {
			continue
		}
		for _, before := range st.Extra.Spec.After {
			for j := range p.Steps {
				other := &p.Steps[j]
				sibling := other.On == st.On && other.Extra != nil && other.Extra.Spec != nil && other.Extra.Spec.Name == before
				if sibling || other.Name() == before {
					st.Extra.After = append(st.Extra.After, j)
				}
			}
		}
	}
}

// HoldTurn has the steps hold their places whose turn has come and whose instances
// are not ready: nothing overtakes them.
func (p *Phase) HoldTurn() {
	room := len(p.Steps)
	if strings.HasPrefix(p.Strategy, api.StrategySerial) {
		room = max(p.Limit, 1)
	}
	for i := range p.Steps {
		st := &p.Steps[i]
		if st.Status == Complete || room == 0 {
			continue
		}
		if room--; st.ExtraOrZero().Awaits && len(st.ExtraOrZero().After) == 0 && (i == 0 || p.Steps[i-1].On != st.On || p.Steps[i-1].isSettled()) {
			st.Status = Prepared
		}
	}
}
