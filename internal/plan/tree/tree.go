// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/decision"
)

// A Tree is one of the job's plans.
type Tree struct {
	Name     string // one of the api.Plan constants, or as the job declares it
	Strategy string // of its phases
	Phases   []*Phase
	Held     bool          // by an operator: nothing is begun
	HeldBy   *api.Decision // nil: the deployment was paused
	Message  string        // what it waits for
	Run      string        // id of the deployment, restart or run that it executes
	// Parameters are those that a custom plan was started with.
	Parameters map[string]string
	Errors     []string          // its own
	Failed     bool              // reports whether the deployment that it executes has failed
	Literal    bool              // reports whether its strategies are executed literally
	Rulings    *decision.Rulings // of operators; nil: none
}

// StatusOf is the status of one of the tree's phases.
func (t *Tree) StatusOf(p *Phase, count *Tally) Status {
	is := count.status(p.Held)
	if t.Failed && is != Complete && is != Pending {
		return Error
	}
	return is
}

// SelectCandidates chooses the tree's candidates, and marks their instances as dirty.
func (t *Tree) SelectCandidates(dirty *DirtySet, m *Scratch, now time.Time) {
	if t.Literal {
		t.openPhases()
	}
	for _, p := range t.Phases {
		if t.Held {
			p.Open = false // what has begun is brought to its end
		}
		if t.Literal {
			p.Chosen = p.candidatesByStrategy(dirty, m, now)
		} else {
			p.Chosen = p.candidates(dirty, m)
		}
		for _, st := range p.Chosen {
			st.Next = true
			if st.On != nil {
				dirty.mark(st)
			}
		}
	}
}
