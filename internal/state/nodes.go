// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A nodeRow is a node and its allocations. It outlives a deleted node while it has
// allocations.
type nodeRow struct {
	node        *api.Node
	allocations list
}

// Node returns the node of that id; nil if it does not exist.
func (c *content) Node(id string) *api.Node {
	if r := c.nodes.find(id); r != nil {
		return r.node
	}
	return nil
}

// Nodes yields all nodes, ordered by id.
func (c *content) Nodes() iter.Seq[*api.Node] { return c.NodesPrefix("") }

// NodeCount returns the number of nodes, including deleted ones that still have allocations.
func (c *content) NodeCount() int { return c.nodes.ids.len() }

// NodesPrefix yields the nodes whose id begins with prefix, ordered by id.
func (c *content) NodesPrefix(prefix string) iter.Seq[*api.Node] {
	return func(yield func(*api.Node) bool) {
		c.nodes.prefix(prefix, func(_ string, r *nodeRow) bool { return r.node == nil || yield(r.node) })
	}
}

func (t *txn) putNode(n *api.Node) {
	_, row := t.nodes.ensure(t.gen, n.ID)
	old := row.node
	row.node = n
	t.emit(TableNodes, Put, orNil(old), n)
	t.ensurePool(n.NodePool)
}

func (t *txn) deleteNode(id string) {
	slot, ok := t.nodes.ids.get(id)
	if !ok {
		return
	}
	row := t.nodes.rows.edit(t.gen, slot)
	if old := row.node; old != nil {
		row.node = nil
		t.emit(TableNodes, Delete, old, nil)
	}
	t.dropNode(id, slot)
}

// dropNode removes a node's row when nothing refers to it any more.
func (t *txn) dropNode(id string, slot uint32) {
	if r := t.nodes.rows.at(slot); r.node == nil && r.allocations.len() == 0 {
		t.nodes.remove(t.gen, id, slot)
	}
}
