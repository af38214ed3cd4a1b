// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// fillNodes gives a group of a job that runs on every node an instance on each
// node that may be given one now. A node that does not suit has none: it is
// neither a failure nor waited for.
func (s *sorter) fillNodes(g *group) {
	suits := placement.NewSuitability(s.job, g.def)
	var nodes []string
	for n := range s.r.Nodes() {
		if !n.IsReady() {
			continue
		}
		if _, ok := suits.Of(n); ok {
			nodes = append(nodes, n.ID)
		}
	}
	g.everywhere, g.open = true, len(nodes)
	g.instances = s.scratch.instancesFor(len(nodes))
	for i, id := range nodes {
		g.instances[i] = instance{group: g, node: id}
	}
}

// placeOn finds the instance on the allocation's node. What is on a node that
// takes nothing new (it is ineligible, drains, is disconnected, or does not
// suit any more) is an instance too, as long as the node is there.
func (s *sorter) placeOn(g *group, a *api.Allocation) (index int, inside bool) {
	index, inside = slices.BinarySearchFunc(g.instances[:g.open], a.NodeID, func(in instance, id string) int {
		return strings.Compare(in.node, id)
	})
	if !inside {
		index, inside = g.closed[a.NodeID]
	}
	if !inside && !a.IsServerTerminal() && !s.isLostWithNode(a) {
		index, inside = len(g.instances), true
		if g.closed == nil {
			g.closed = make(map[string]int)
		}
		g.closed[a.NodeID] = index
		g.instances = append(g.instances, instance{group: g, node: a.NodeID, closed: true})
	}
	return index, inside
}

// stopOnClosedNodes takes the instances out that have to leave nodes that take nothing
// new: nobody comes after them.
func (s *sorter) stopOnClosedNodes(g *group) {
	if len(g.closed) == 0 {
		return
	}
	slices.SortFunc(g.instances, func(a, b instance) int { return strings.Compare(a.node, b.node) })
	kept := g.instances[:0]
	for i := range g.instances {
		in := &g.instances[i]
		if in.closed && in.alloc != nil && (in.state == moving || s.isOnUnwantedNode(in)) {
			g.addExcess(in.alloc, 0)
			continue
		}
		kept = append(kept, *in)
	}
	g.instances = kept
}

// isOnUnwantedNode reports whether the newest version does not want the node on which
// the instance, of an older one, is.
func (s *sorter) isOnUnwantedNode(in *instance) bool {
	return !s.isCurrent(in.alloc) && !s.stillSuits(in.group, in.alloc)
}

// whyLeavingNode says why an allocation of a job that runs on every node does
// not go on there.
func (s *leaver) whyLeavingNode(g *group, a *api.Allocation) api.Reason {
	switch {
	case s.isLostWithNode(a):
		return s.whyLost(a)
	case a.DesiredTransition.ShouldMigrate():
		return api.ReasonEvicted
	}
	return api.ReasonInfeasible
}

// hasStragglers reports whether an instance is left behind by a rollout that
// succeeded: its node took nothing new at the time, and does now.
func (s *facts) hasStragglers() bool {
	for _, g := range s.groups {
		for i := range g.instances {
			in := &g.instances[i]
			if g.everywhere && g.rolling && in.alloc != nil && !in.closed && !s.isCurrent(in.alloc) && s.destructive(g, in.alloc) {
				return true
			}
		}
	}
	return false
}
