// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A phase is steps of one plan under one strategy.
type phase struct {
	name     string
	group    *group // that all of its steps are about; nil if of several
	strategy string // one of the api.Strategy constants
	after    []string
	node     *api.Node // that is drained
	steps    []step
	limit    int           // of a serial one: steps under way at a time; 0: no limit
	most     int           // that a generated one shows as its limit, also while there is nothing to protect
	stagger  time.Duration // between a step's completion and the next one's begin
	rolling  bool          // it waits for the phases before it, and holds up those after
	// canaries is set in the phase of a group's canaries; unpromoted in the others of
	// the group until these are promoted.
	canaries, unpromoted bool
	// reverts is set when it goes back to a version that has proved itself: what
	// fails is replaced at once.
	reverts bool
	// open is set when the phases before it let it begin.
	open   bool
	held   bool // by an operator
	heldBy *api.Decision
	why    string // it is so, in words
	// Of a canary phase: the continues that operators gave it, and how many steps
	// wait for one. Uncanary is set when it goes on without.
	released []*api.Decision
	waits    int
	waiting  *step // the first of them
	uncanary bool
	// Until is when a staggered phase goes on; waiter is what it waits after.
	until  time.Time
	waiter *api.Allocation
	chosen []*step // candidates, in the order in which they are done
}

// isComplete reports whether every step is, or will be with this evaluation.
func (p *phase) isComplete() bool {
	for i := range p.steps {
		if !p.steps[i].isSettled() {
			return false
		}
	}
	return true
}

// underWay counts the steps that are begun and not complete.
func (p *phase) underWay() (n int) {
	for i := range p.steps {
		if s := &p.steps[i]; s.action == none && s.status != Complete && s.status != Waiting {
			n++
		}
	}
	return n
}

// begins reports whether the phase may begin new steps.
func (p *phase) begins() bool { return p.open && !p.held }
