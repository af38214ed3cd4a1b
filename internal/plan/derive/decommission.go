// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A leaver builds the plans that only stop allocations: decommission and uninstall.
type leaver struct {
	*facts.Facts
	scratch *scratch
}

// buildDecommission derives the plan decommission; nil if everything is wanted.
func buildDecommission(f *facts.Facts, m *scratch) *tree.Tree {
	s := leaver{Facts: f, scratch: m}
	return s.decommissionTree()
}

// decommissionTree derives the plan that stops what is wanted no longer: groups
// that left the job first, the others from the last one declared to the first,
// within a group the highest index first. They are told in that order, and none
// waits for another. What was told stays in the plan until it has ended.
func (l *leaver) decommissionTree() *tree.Tree {
	if l.Uninstalls() {
		return nil
	}
	var t *tree.Tree
	for _, g := range l.leavingOrder() {
		if len(g.Excess)+len(g.Going) == 0 {
			continue
		}
		if t == nil {
			t = &tree.Tree{Name: api.PlanDecommission, Strategy: api.StrategyParallel}
		}
		p := &tree.Phase{Name: g.Name, Group: g, Strategy: api.StrategyParallel, Open: true}
		p.Steps = l.leavingSteps(g)
		for i := range p.Steps {
			l.giveUpStep(&p.Steps[i], api.PlanDecommission, p.Name)
		}
		t.Phases = append(t.Phases, p)
	}
	if t != nil {
		t.ApplyRulings(l.Decisions.HoldsOn(api.PlanDecommission, l.Decisions.IsOnVersion))
	}
	return t
}

// leavingOrder are the groups in the order in which they are decommissioned.
func (l *leaver) leavingOrder() []*facts.Group {
	left := slices.IndexFunc(l.Groups, func(g *facts.Group) bool { return g.Def == nil })
	if left < 0 {
		left = len(l.Groups)
	}
	order := slices.Clone(l.Groups[left:])
	for _, g := range slices.Backward(l.Groups[:left]) {
		order = append(order, g)
	}
	return order
}

// leavingSteps derives a step for everything of the group that is to stop or is
// stopping.
func (s *leaver) leavingSteps(g *facts.Group) []tree.Step {
	n := len(g.Excess) + len(g.Going)
	places, steps := s.scratch.facts.InstancesFor(n), s.scratch.tree.StepsFor(n)
	all := make([]facts.Departure, 0, n)
	for _, l := range g.Excess {
		if l.Reason == 0 {
			l.Reason = s.whyLeaving(g, l.Alloc)
		}
		all = append(all, l)
	}
	for _, a := range g.Going {
		all = append(all, facts.Departure{Group: g, Alloc: a})
	}
	slices.SortStableFunc(all, func(a, b facts.Departure) int { return b.Alloc.Index() - a.Alloc.Index() })
	for i, l := range all {
		places[i] = facts.Instance{Group: g, Index: l.Alloc.Index(), Alloc: l.Alloc, State: facts.Running}
		if l.Alloc.Job != nil && l.Alloc.Job.RunsOnEveryNode() {
			places[i].Node = l.Alloc.NodeID
		}
		steps[i] = tree.Step{On: &places[i], Action: tree.Leave, Status: tree.Pending, Job: l.Alloc.Job, Reason: l.Reason, Why: l.Reason.Text()}
		if l.Reason == 0 {
			steps[i].Action, steps[i].Status, steps[i].Why = tree.None, tree.Starting, l.Alloc.DesiredDescription
			if s.IsUnreachable(l.Alloc) {
				steps[i].Why = "a stop is requested, but its node is out of reach: the allocation may still run"
			}
		}
	}
	return steps
}

func (l *leaver) whyLeaving(g *facts.Group, a *api.Allocation) api.Reason {
	switch {
	case a.Orphan && l.IsWanted() == (l.Job != nil):
		return api.ReasonOrphaned
	case l.Job == nil, l.Uninstalls():
		return api.ReasonPurged
	case !l.IsWanted():
		return api.ReasonJobStopped
	case g.Def == nil:
		return api.ReasonGroupRemoved
	case g.Everywhere:
		return l.whyLeavingNode(g, a)
	}
	return api.ReasonScaledDown
}

// whyLeavingNode says why an allocation of a job that runs on every node does
// not go on there.
func (l *leaver) whyLeavingNode(g *facts.Group, a *api.Allocation) api.Reason {
	switch {
	case l.IsLostWithNode(a):
		return l.WhyLost(a)
	case a.DesiredTransition.ShouldMigrate():
		return api.ReasonEvicted
	}
	return api.ReasonInfeasible
}
