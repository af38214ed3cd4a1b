// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"math"

	"github.com/reeve-run/reeve/internal/plan/facts"
)

// candidates returns the steps that may be done now: all that only add, then as
// many of the others as the limit allows, those whose instance is worth least
// first. In a phase that is held or whose turn has not come, a place that was
// vacated by this plan is still filled: what has begun is brought to its end.
func (p *Phase) candidates(dirty *DirtySet, m *Scratch) []*Step {
	if p.Unpromoted {
		return nil
	}
	chosen := m.chosenFor(len(p.Steps))
	room := math.MaxInt
	if p.Limit > 0 {
		room = p.Limit - p.underWay()
	}
	others := 0
	for i := range p.Steps {
		switch st := &p.Steps[i]; {
		case st.Action == None:
		case st.On != nil && dirty.conflicts(st):
		case (st.Action == Leave || st.Action == Deregister) && p.begins():
			chosen = append(chosen, st)
		case (st.Action == Update && !st.Proves || st.Action == Later) && !p.Held:
			chosen = append(chosen, st) // takes nothing away, adds nothing
			if st.Action == Update && !st.Settles {
				room-- // but will be under way
			}
		case st.Action == Start && (p.begins() || st.Status == Prepared):
			chosen = append(chosen, st)
			room--
		case st.Action == Replace || st.Action == Launch || st.Action == Update:
			others++
		}
	}
	if p.Limit > 0 && p.isTrying() {
		room = min(room, 1-p.underWay())
	}
	if others == 0 || !p.begins() {
		return chosen
	}
	for worth := range facts.HighWorth + 1 {
		for i := range p.Steps {
			if room <= 0 && !(p.Reverts && worth == facts.NoWorth) {
				break
			}
			if st := &p.Steps[i]; (st.Action == Replace || st.Action == Launch || st.Action == Update && st.Proves) && !dirty.conflicts(st) && st.On.Rank() == worth {
				chosen = append(chosen, st)
				room--
			}
		}
	}
	return chosen
}

// isTrying reports whether the change in place of one instance of the phase is to
// show whether it works: none has been found healthy by the newest version yet.
func (p *Phase) isTrying() bool {
	proving := false
	for i := range p.Steps {
		st := &p.Steps[i]
		proving = proving || st.Proves
		if a := st.On.Alloc; st.Action == None && st.Status == Complete && a != nil && a.JobVersion() == st.Job.Version && a.IsHealthy() {
			return false
		}
	}
	return proving
}
