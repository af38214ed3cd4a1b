// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package catalog

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// nodes is what the catalog knows of nodes: which have said what they run, and
// the zones that they are in.
type nodes struct {
	all       map[string]*api.Node
	attribute string   // that the scheduler's configuration has for zones
	came      []string // nodes that have said what they run since news was called
	moved     bool     // a node is in another zone since haveMoved was called
}

func (n *nodes) start(snap *state.Snapshot) {
	*n = nodes{all: map[string]*api.Node{}, attribute: snap.SchedulerConfig().ZoneAttribute}
	for node := range snap.Nodes() {
		n.all[node.ID] = node
	}
}

// apply takes over a change of a node or of the scheduler's configuration.
func (n *nodes) apply(change *state.Change) {
	if config, ok := change.New.(*api.SchedulerConfig); ok && config != nil {
		n.moved = n.moved || config.ZoneAttribute != n.attribute
		n.attribute = config.ZoneAttribute
		return
	}
	old, _ := change.Old.(*api.Node)
	node, _ := change.New.(*api.Node)
	switch {
	case node != nil:
		n.all[node.ID] = node
		n.moved = n.moved || old.Zone(n.attribute) != node.Zone(n.attribute)
		if isHeard(node) && !isHeard(old) {
			n.came = append(n.came, node.ID)
		}
	case old != nil:
		delete(n.all, old.ID)
	}
}

// isHeard reports whether a node has said what it runs.
func isHeard(n *api.Node) bool { return n != nil && n.Status != api.NodeStatusInit }

// heard are the nodes that have said what they run.
func (n *nodes) heard() (ids []string) {
	for id, node := range n.all {
		if isHeard(node) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids
}

// news are those that have since it was asked last.
func (n *nodes) news() (came []string) {
	came, n.came = n.came, nil
	return came
}

// haveMoved reports whether any is in another zone since it was asked last.
func (n *nodes) haveMoved() (moved bool) {
	moved, n.moved = n.moved, false
	return moved
}

func (n *nodes) zoneOf(id string) string { return n.all[id].Zone(n.attribute) }
