// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// cluster is what is said of the cluster as a whole. It changes rarely and is
// small, so a change copies what it changes.
type cluster struct {
	scheduler *api.SchedulerConfig
	pools     []*api.NodePool // ordered by name, without the built-in ones
	domains   []*api.Domain   // ordered by name
	id        string          // of the cluster, for as long as its state lives; "" before it began
	timelines []timeline      // oldest first
}

// builtInPools always exist, ordered by name.
var builtInPools = []*api.NodePool{
	{Name: api.NodePoolAll, Description: "Every node of the cluster."},
	{Name: api.NodePoolDefault, Description: "Nodes that name no pool."},
}

// SchedulerConfig returns how the cluster schedules: the defaults until
// somebody changed them. It is never nil.
func (c *content) SchedulerConfig() *api.SchedulerConfig { return c.cluster.scheduler }

// NodePool returns the pool of that name, nil if there is none. The built-in
// ones always exist.
func (c *content) NodePool(name string) *api.NodePool {
	for _, pools := range [][]*api.NodePool{builtInPools, c.cluster.pools} {
		if i, ok := findPool(pools, name); ok {
			return pools[i]
		}
	}
	return nil
}

// NodePools yields all pools, the built-in ones too, ordered by name.
func (c *content) NodePools() iter.Seq[*api.NodePool] { return c.NodePoolsPrefix("") }

// NodePoolsPrefix yields the pools whose name begins with prefix, ordered by
// name.
func (c *content) NodePoolsPrefix(prefix string) iter.Seq[*api.NodePool] {
	return func(yield func(*api.NodePool) bool) {
		all := append(slices.Clone(builtInPools), c.cluster.pools...)
		slices.SortFunc(all, func(a, b *api.NodePool) int { return cmp.Compare(a.Name, b.Name) })
		for _, p := range all {
			if strings.HasPrefix(p.Name, prefix) && !yield(p) {
				return
			}
		}
	}
}

func findPool(pools []*api.NodePool, name string) (int, bool) {
	return slices.BinarySearchFunc(pools, name, func(p *api.NodePool, name string) int { return cmp.Compare(p.Name, name) })
}

// ensurePool makes the pool that a node names, if there is none.
func (t *txn) ensurePool(name string) {
	if name != "" && t.NodePool(name) == nil {
		t.putNodePool(&api.NodePool{Name: name, CreateIndex: t.index, ModifyIndex: t.index})
	}
}

func (t *txn) putNodePool(p *api.NodePool) {
	old := t.cluster.put(p)
	t.emit(TableNodePools, Put, orNil(old), p)
}

// put stores a pool and returns the one that was there, nil if there was none.
func (c *cluster) put(p *api.NodePool) (old *api.NodePool) {
	i, ok := findPool(c.pools, p.Name)
	c.pools = slices.Clone(c.pools)
	if ok {
		old, c.pools[i] = c.pools[i], p
	} else {
		c.pools = slices.Insert(c.pools, i, p)
	}
	return old
}

func (t *txn) deleteNodePool(name string) {
	if i, ok := findPool(t.cluster.pools, name); ok {
		old := t.cluster.pools[i]
		t.cluster.pools = slices.Delete(slices.Clone(t.cluster.pools), i, i+1)
		t.emit(TableNodePools, Delete, old, nil)
	}
}
