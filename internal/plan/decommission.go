// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import "github.com/reeve-run/reeve/api"

// A leaving is an allocation that is wanted no longer.
type leaving struct {
	group *group
	alloc *api.Allocation
	why   string
}

// decommission derives the plan that stops what is wanted no longer: groups
// that left the job last, within a group the highest index first.
func (s *survey) decommission() []leaving {
	var all []leaving
	for _, g := range s.groups {
		for _, l := range g.excess {
			if l.why == "" {
				l.why = s.whyLeaving(g, l.alloc)
			}
			all = append(all, l)
		}
	}
	return all
}

func (s *survey) whyLeaving(g *group, a *api.Allocation) string {
	switch {
	case s.job == nil:
		return becausePurged
	case !s.wanted():
		return becauseStopped
	case g.def == nil:
		return becauseLeft
	case g.everywhere:
		return s.whyLeavingNode(g, a)
	}
	return becauseExcess
}
