// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// A tree is one of the job's plans.
type tree struct {
	name     string // one of the api.Plan constants, or as the job declares it
	strategy string // of its phases
	phases   []*phase
	held     bool          // by an operator: nothing is begun
	heldBy   *api.Decision // nil: the deployment was paused
	message  string        // what it waits for, in words
	run      string        // what it carries out
	// parameters are those that a custom plan was started with.
	parameters map[string]string
	errors     []string // its own
	failed     bool     // what it carries out has failed: nothing of it goes on
	literal    bool     // its strategies are carried out to the letter
	rulings    *rulings // of operators; nil: none
}

// statusOf is the status of one of the tree's phases.
func (t *tree) statusOf(p *phase, count *tally) Status {
	is := count.status(p.held)
	if t.failed && is != Complete && is != Pending {
		return Error
	}
	return is
}

// selectCandidates chooses the tree's candidates, and marks their instances as dirty.
func (t *tree) selectCandidates(dirty *dirtySet, m *treeScratch, now time.Time) {
	if t.literal {
		t.openPhases()
	}
	for _, p := range t.phases {
		if t.held {
			p.open = false // what has begun is brought to its end
		}
		if t.literal {
			p.chosen = p.candidatesByStrategy(dirty, m, now)
		} else {
			p.chosen = p.candidates(dirty, m)
		}
		for _, st := range p.chosen {
			st.next = true
			if st.on != nil {
				dirty.mark(st)
			}
		}
	}
}
