// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
)

// fillNodes gives a group of a job that runs on every node an instance on each
// node that may be given one now. A node that does not suit has none: it is
// neither a failure nor waited for.
func (s *sorter) fillNodes(g *Group) {
	suits := placement.NewSuitability(s.Job, g.Def)
	var nodes []string
	for n := range s.R.Nodes() {
		if !n.IsReady() {
			continue
		}
		if _, ok := suits.Of(n); ok {
			nodes = append(nodes, n.ID)
		}
	}
	g.Everywhere, g.open = true, len(nodes)
	g.Instances = s.scratch.InstancesFor(len(nodes))
	for i, id := range nodes {
		g.Instances[i] = Instance{Group: g, Node: id}
	}
}

// placeOn finds the instance on the allocation's node. What is on a node that
// takes nothing new (it is ineligible, drains, is disconnected, or does not
// suit any more) is an instance too, as long as the node is there.
func (s *sorter) placeOn(g *Group, a *api.Allocation) (index int, inside bool) {
	index, inside = slices.BinarySearchFunc(g.Instances[:g.open], a.NodeID, func(in Instance, id string) int {
		return strings.Compare(in.Node, id)
	})
	if !inside {
		index, inside = g.closed[a.NodeID]
	}
	if !inside && !a.IsServerTerminal() && !s.IsLostWithNode(a) {
		index, inside = len(g.Instances), true
		if g.closed == nil {
			g.closed = make(map[string]int)
		}
		g.closed[a.NodeID] = index
		g.Instances = append(g.Instances, Instance{Group: g, Node: a.NodeID, Closed: true})
	}
	return index, inside
}

// stopOnClosedNodes takes the instances out that have to leave nodes that take nothing
// new: nobody comes after them.
func (s *sorter) stopOnClosedNodes(g *Group) {
	if len(g.closed) == 0 {
		return
	}
	slices.SortFunc(g.Instances, func(a, b Instance) int { return strings.Compare(a.Node, b.Node) })
	kept := g.Instances[:0]
	for i := range g.Instances {
		in := &g.Instances[i]
		if in.Closed && in.Alloc != nil && (in.State == Moving || s.isOnUnwantedNode(in)) {
			g.addExcess(in.Alloc, 0)
			continue
		}
		kept = append(kept, *in)
	}
	g.Instances = kept
}

// isOnUnwantedNode reports whether the newest version does not want the node on which
// the instance, of an older one, is.
func (s *sorter) isOnUnwantedNode(in *Instance) bool {
	return !s.IsCurrent(in.Alloc) && !s.stillSuits(in.Group, in.Alloc)
}
