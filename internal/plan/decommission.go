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

// decommissionTree derives the plan that stops what is wanted no longer: groups
// that left the job last, within a group the highest index first.
func (s *survey) decommissionTree() *tree {
	t := &tree{name: api.PlanDecommission, strategy: api.StrategySerial}
	for _, g := range s.groups {
		if len(g.excess) == 0 {
			continue
		}
		p := &phase{name: g.name, group: g, strategy: api.StrategySerial, open: true}
		places := s.memory.instancesFor(len(g.excess))
		for i, l := range g.excess {
			if l.why == "" {
				l.why = s.whyLeaving(g, l.alloc)
			}
			places[i] = instance{group: g, index: l.alloc.Index(), alloc: l.alloc, state: running}
			if l.alloc.Job != nil && l.alloc.Job.RunsOnEveryNode() {
				places[i].node = l.alloc.NodeID
			}
			p.steps = append(p.steps, step{on: &places[i], do: leave, status: Pending, job: l.alloc.Job, why: l.why})
		}
		t.phases = append(t.phases, p)
	}
	if len(t.phases) == 0 {
		return nil
	}
	return t
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
