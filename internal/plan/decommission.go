// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A departure is an allocation that is wanted no longer.
type departure struct {
	group  *group
	alloc  *api.Allocation
	reason api.Reason // 0: it is stopping already, or the reason follows from its place
}

// A leaver builds the plans that only stop allocations: decommission and uninstall.
type leaver struct {
	*facts
	scratch *scratch
}

// buildDecommission derives the plan decommission; nil if everything is wanted.
func buildDecommission(f *facts, m *scratch) *tree {
	s := leaver{facts: f, scratch: m}
	return s.decommissionTree()
}

// decommissionTree derives the plan that stops what is wanted no longer: groups
// that left the job first, the others from the last one declared to the first,
// within a group the highest index first. They are told in that order, and none
// waits for another. What was told stays in the plan until it has ended.
func (s *leaver) decommissionTree() *tree {
	if s.uninstalls() {
		return nil
	}
	var t *tree
	for _, g := range s.leavingOrder() {
		if len(g.excess)+len(g.going) == 0 {
			continue
		}
		if t == nil {
			t = &tree{name: api.PlanDecommission, strategy: api.StrategyParallel}
		}
		p := &phase{name: g.name, group: g, strategy: api.StrategyParallel, open: true}
		p.steps = s.leavingSteps(g)
		for i := range p.steps {
			s.giveUpStep(&p.steps[i], api.PlanDecommission, p.name)
		}
		t.phases = append(t.phases, p)
	}
	if t != nil {
		t.rule(s.decisions.holdsOn(api.PlanDecommission, s.decisions.isOnVersion))
	}
	return t
}

// leavingOrder are the groups in the order in which they are decommissioned.
func (s *leaver) leavingOrder() []*group {
	left := slices.IndexFunc(s.groups, func(g *group) bool { return g.def == nil })
	if left < 0 {
		left = len(s.groups)
	}
	order := slices.Clone(s.groups[left:])
	for _, g := range slices.Backward(s.groups[:left]) {
		order = append(order, g)
	}
	return order
}

// leavingSteps derives a step for everything of the group that is to stop or is
// stopping.
func (s *leaver) leavingSteps(g *group) []step {
	n := len(g.excess) + len(g.going)
	places, steps := s.scratch.facts.instancesFor(n), s.scratch.tree.stepsFor(n)
	all := make([]departure, 0, n)
	for _, l := range g.excess {
		if l.reason == 0 {
			l.reason = s.whyLeaving(g, l.alloc)
		}
		all = append(all, l)
	}
	for _, a := range g.going {
		all = append(all, departure{g, a, 0})
	}
	slices.SortStableFunc(all, func(a, b departure) int { return b.alloc.Index() - a.alloc.Index() })
	for i, l := range all {
		places[i] = instance{group: g, index: l.alloc.Index(), alloc: l.alloc, state: running}
		if l.alloc.Job != nil && l.alloc.Job.RunsOnEveryNode() {
			places[i].node = l.alloc.NodeID
		}
		steps[i] = step{on: &places[i], action: leave, status: Pending, job: l.alloc.Job, reason: l.reason, why: l.reason.Text()}
		if l.reason == 0 {
			steps[i].action, steps[i].status, steps[i].why = none, Starting, l.alloc.DesiredDescription
			if s.isUnreachable(l.alloc) {
				steps[i].why = "it was told to stop, and its node is out of reach: nobody knows whether it still runs"
			}
		}
	}
	return steps
}

func (s *leaver) whyLeaving(g *group, a *api.Allocation) api.Reason {
	switch {
	case a.Orphan && s.wanted() == (s.job != nil):
		return api.ReasonOrphaned
	case s.job == nil, s.uninstalls():
		return api.ReasonPurged
	case !s.wanted():
		return api.ReasonJobStopped
	case g.def == nil:
		return api.ReasonGroupRemoved
	case g.everywhere:
		return s.whyLeavingNode(g, a)
	}
	return api.ReasonScaledDown
}
