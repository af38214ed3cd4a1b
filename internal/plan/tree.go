// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

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

// priority is the order in which plans are asked for work: an instance that one
// works on is left alone by those after it.
var priority = []func(*survey) *tree{
	(*survey).deployTree,
	(*survey).recoveryTree,
	(*survey).decommissionTree,
	(*survey).uninstallTree,
	(*survey).restartTree,
	(*survey).drainTree,
}

// statusOf is the status of one of the tree's phases.
func (t *tree) statusOf(p *phase, count *tally) Status {
	is := count.status(p.held)
	if t.failed && is != Complete && is != Pending {
		return Error
	}
	return is
}

// trees derives all of the job's plans, and chooses the steps that are to be
// done now. A plan that has nothing to say is left out.
func (s *survey) trees() []*tree {
	all := s.list[:0]
	for _, derive := range priority {
		if t := derive(s); t != nil {
			s.selectCandidates(t)
			all = append(all, t)
		}
	}
	for _, t := range s.customTrees() {
		s.selectCandidates(t)
		all = append(all, t)
	}
	return all
}

// selectCandidates picks the tree's candidates. Their instances are dirty from then on.
func (s *survey) selectCandidates(t *tree) {
	if t.literal {
		t.openPhases()
	}
	for _, p := range t.phases {
		if t.held {
			p.open = false // what has begun is brought to its end
		}
		if t.literal {
			p.chosen = p.candidatesByStrategy(s.scratch, s.now)
		} else {
			p.chosen = p.candidates(s.scratch)
		}
		for _, st := range p.chosen {
			st.next = true
			if st.on != nil {
				st.on.claim(st)
			}
		}
	}
}
