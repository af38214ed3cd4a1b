// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// An obstacle is why an instance cannot be on a node.
type obstacle struct {
	reason string // in words; "": nothing is in the way
	room   bool   // it is the lack of room: the node may have it later
}

// pin places requests that name their node: no other is looked at. How often a
// node passes each test is all that their metrics tell.
func (p *pass) pin(b *batch, requests []*Request) {
	placed := make(map[int32]*api.PlacementMetrics)
	for _, r := range requests {
		slot, ok := p.view.slots.Get(r.NodeID)
		if !ok {
			p.settle(b, r, nil, nil)
			continue
		}
		bk, o, why := b.hinders(slot)
		var a *api.Allocation
		if why.reason == "" {
			a, _ = b.put(r, slot, bk, o)
		}
		if a == nil {
			p.settle(b, r, nil, nil)
			continue
		}
		pg, i := p.view.page(slot)
		m := placed[pg.kind[i]]
		if m == nil {
			m = b.lone(pg.nodes[i])
			placed[pg.kind[i]] = m
		}
		p.settle(b, r, a, m)
	}
}

// lone is what metrics say where one node was looked at, and taken.
func (b *batch) lone(n *api.Node) *api.PlacementMetrics {
	return &api.PlacementMetrics{
		NodesEvaluated: 1, NodesInPool: 1, NodePool: b.rules.pool,
		NodesAvailable: map[string]int{n.Datacenter: 1},
	}
}

// hinders looks for what keeps one more instance from the slot's node. If it is
// nothing, it returns the node's bucket and overlay.
func (b *batch) hinders(slot int32) (*bucket, *overlay, obstacle) {
	p, i := b.pass.view.page(slot)
	n := p.nodes[i]
	if n == nil {
		return nil, nil, obstacle{reason: "the node is not registered"}
	}
	if p.ready&(1<<i) == 0 {
		return nil, nil, obstacle{reason: takesNothing(n)}
	}
	k := b.judge(p.kind[i])
	reason := k.reason
	switch {
	case !k.inPool:
		reason = fmt.Sprintf("node pool %q is not %q", n.NodePool, b.rules.pool)
	case !k.within:
		reason = fmt.Sprintf("datacenter %q is not among %q", n.Datacenter, b.rules.datacenters)
	case reason == "":
		reason = b.rules.ofNode(n)
	}
	if reason != "" {
		return nil, nil, obstacle{reason: reason}
	}
	at := k.bucket
	if at < 0 {
		if at, reason = b.bucketOf(n); reason != "" {
			return nil, nil, obstacle{reason: reason}
		}
	}
	bk := b.buckets[at]
	if b.rules.distinctHosts && b.neighbours(slot) > 0 {
		return nil, nil, obstacle{reason: api.OperandDistinctHosts}
	}
	if words := b.closed(bk); words != "" {
		return nil, nil, obstacle{reason: words}
	}
	o := b.pass.overlay(slot)
	if dimension := b.lacks(&candidate{used: o.used}, n, p.capacity[i], o); dimension != "" {
		return nil, nil, obstacle{reason: dimension, room: true}
	}
	if _, ok := b.ask.pick(n, o, 0); !ok {
		return nil, nil, obstacle{reason: "network: dynamic port selection failed", room: true}
	}
	return bk, o, obstacle{}
}

// takesNothing says that the node is not ready.
func takesNothing(n *api.Node) string {
	return fmt.Sprintf("the node takes no new allocations (status %s, %s)", n.Status, n.SchedulingEligibility)
}

// blame adds to the metrics why the pinned request could not be placed.
func (b *batch) blame(m *api.PlacementMetrics, r *Request) {
	m.NodesEvaluated++
	m.NodePool = b.rules.pool
	slot, ok := b.pass.view.slots.Get(r.NodeID)
	n := b.pass.view.Node(r.NodeID)
	if !ok || n == nil {
		filtered(m, nil, "the node is not registered")
		return
	}
	if b.rules.inPool(n) {
		m.NodesInPool++
	}
	if n.IsReady() {
		if m.NodesAvailable == nil {
			m.NodesAvailable = make(map[string]int)
		}
		m.NodesAvailable[n.Datacenter]++
	}
	switch _, _, why := b.hinders(slot); {
	case why.room:
		exhausted(m, n, why.reason)
		b.asked(m)
	case why.reason != "":
		filtered(m, n, why.reason)
	}
}
