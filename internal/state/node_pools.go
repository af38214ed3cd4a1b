// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// nodePools holds the built-in pools and those that operators and nodes create.
var nodePools = declare(noun[api.NodePool]{
	name: "node pools", singular: "node pool", verb: "NodePool", frame: 9,
	key:   func(p *api.NodePool) string { return p.Name },
	stamp: func(p *api.NodePool) (create, modify *uint64) { return &p.CreateIndex, &p.ModifyIndex },
	count: func(end *endRecord) *int { return &end.NodePools },
	builtIn: []*api.NodePool{
		{Name: api.NodePoolAll, Description: "Every node of the cluster."},
		{Name: api.NodePoolDefault, Description: "Nodes that name no pool."},
	},
	topic:     api.TopicNodePool,
	eventType: putOrDelete[api.NodePool](api.EventTypeNodePoolUpserted, api.EventTypeNodePoolDeleted),
	search:    api.SearchNodePools,
})

// TableNodePools holds *api.NodePool, without the built-in ones.
var TableNodePools = nodePools.table

// NodePool returns the pool of that name, nil if it does not exist.
func (c *content) NodePool(name string) *api.NodePool { return nodePools.find(c, name) }

// NodePools yields all pools, ordered by name.
func (c *content) NodePools() iter.Seq[*api.NodePool] { return nodePools.all(c, "") }

// NodePoolsPrefix yields the pools whose name begins with prefix, ordered by
// name.
func (c *content) NodePoolsPrefix(prefix string) iter.Seq[*api.NodePool] {
	return nodePools.all(c, prefix)
}

// ensurePool creates the pool that a node names if it does not exist.
func (t *txn) ensurePool(name string) {
	if name != "" && t.NodePool(name) == nil {
		nodePools.put(t, &api.NodePool{Name: name})
	}
}

// PutNodePool stores a node pool, new or changed.
type PutNodePool struct {
	Pool *api.NodePool
}

// Name implements Command.
func (c *PutNodePool) Name() string { return "PutNodePool" }

func (c *PutNodePool) apply(t *txn) error {
	switch {
	case c.Pool == nil || c.Pool.Name == "":
		return api.Errorf(api.CodeInvalid, "a node pool needs a name")
	case c.Pool.IsBuiltIn():
		return api.Errorf(api.CodeInvalid, "node pool %q is built in and cannot be changed: make one of another name", c.Pool.Name)
	}
	pool := *c.Pool
	nodePools.put(t, &pool)
	return nil
}

// DeleteNodePool deletes an empty pool.
type DeleteNodePool struct {
	Pool string
}

// Name implements Command.
func (c *DeleteNodePool) Name() string { return "DeleteNodePool" }

func (c *DeleteNodePool) apply(t *txn) error {
	pool := t.NodePool(c.Pool)
	switch {
	case pool == nil:
		return api.Errorf(api.CodeNotFound, "node pool %q not found", c.Pool)
	case pool.IsBuiltIn():
		return api.Errorf(api.CodeInvalid, "node pool %q is built in and cannot be deleted", c.Pool)
	}
	var nodes, jobs []string
	for n := range t.Nodes() {
		if n.NodePool == c.Pool {
			nodes = append(nodes, api.ShortID(n.ID))
		}
	}
	for j := range t.Jobs() {
		if j.NodePool == c.Pool && j.Status != api.JobStatusDead {
			jobs = append(jobs, j.ID)
		}
	}
	if len(nodes) > 0 {
		return api.Errorf(api.CodeConflict, "node pool %q has %s: move them to another pool first", c.Pool, some(nodes, "node"))
	}
	if len(jobs) > 0 {
		return api.Errorf(api.CodeConflict, "node pool %q has %s: stop them, or move them to another pool first", c.Pool, some(jobs, "job"))
	}
	nodePools.delete(t, c.Pool)
	return nil
}

func (c *PutNodePool) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_PutNodePool{PutNodePool: &wire.PutNodePool{PoolJson: document(c.Pool)}}}
}

func decodePutNodePool(w *wire.PutNodePool) (_ *PutNodePool, err error) {
	c := &PutNodePool{}
	c.Pool, err = parse[api.NodePool](w.PoolJson)
	return c, err
}

func (c *DeleteNodePool) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_DeleteNodePool{DeleteNodePool: &wire.DeleteNodePool{Name: c.Pool}}}
}

// some lists the first few of many names.
func some(names []string, noun string) string {
	const few = 5
	text := noun + " "
	if len(names) > 1 {
		text = noun + "s "
	}
	text += strings.Join(names[:min(few, len(names))], ", ")
	if len(names) > few {
		text += " and others"
	}
	return text
}
