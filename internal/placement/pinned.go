// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
)

// An obstacle is a reason why a node cannot take an instance.
type obstacle struct {
	reason string // in words; "" if there is no obstacle
	room   bool   // reports whether the node lacks room, which may become free later
}

// placePinned places requests that name their node. It examines only that node. Their
// metrics only count the nodes that pass or fail each test.
func (p *pass) placePinned(b *batch, requests []*Request) {
	placed := make(map[int32]*api.PlacementMetrics)
	for _, r := range requests {
		if b.overQuota(r) {
			continue
		}
		slot, ok := p.view.slots.Get(r.NodeID)
		if !ok {
			p.recordResult(b, r, nil, nil)
			continue
		}
		b.ignorePredecessor(r)
		bk, o, why := b.findObstacle(slot)
		if why.reason != "" {
			b.countPredecessor(r)
			p.recordResult(b, r, nil, nil)
			continue
		}
		pg, i := p.view.page(slot)
		m := placed[pg.class[i]]
		if m == nil {
			m = b.singleNodeMetrics(pg.nodes[i])
			placed[pg.class[i]] = m
		}
		a := b.assign(r, slot, bk, o)
		if a == nil {
			b.countPredecessor(r)
		}
		p.recordResult(b, r, a, m)
	}
}

// singleNodeMetrics returns the metrics of a placement that examined one node and took it.
func (b *batch) singleNodeMetrics(n *api.Node) *api.PlacementMetrics {
	return &api.PlacementMetrics{
		NodesEvaluated: 1, NodesInPool: 1, NodePool: b.rules.pool,
		NodesAvailable: map[string]int{n.Datacenter: 1},
	}
}

// classObstacle returns the obstacle of a node and its class that keeps every instance off
// the node.
func (b *batch) classObstacle(p *page, i int) obstacle {
	n, k := p.nodes[i], b.verdict(p.class[i])
	switch {
	case !p.isReady(i):
		return obstacle{reason: notReadyReason(n)}
	case !k.inPool:
		return obstacle{reason: fmt.Sprintf("node pool %q is not %q", n.NodePool, b.rules.pool)}
	case !k.within:
		return obstacle{reason: fmt.Sprintf("datacenter %q is not among %q", n.Datacenter, b.rules.datacenters)}
	}
	return obstacle{reason: k.reason}
}

// findObstacle returns the obstacle that keeps one more instance off the slot's node. If
// the node has none, findObstacle returns its bucket and overlay.
func (b *batch) findObstacle(slot int32) (*bucket, *overlay, obstacle) {
	p, i := b.pass.view.page(slot)
	if p.nodes[i] == nil {
		return nil, nil, obstacle{reason: notRegistered}
	}
	if why := b.classObstacle(p, i); why.reason != "" {
		return nil, nil, why
	}
	o := b.pass.overlay(slot)
	at, why := b.roomObstacle(p, i, slot, o)
	if why.reason != "" {
		return nil, nil, why
	}
	return b.buckets[at], o, obstacle{}
}

// roomObstacle returns the obstacle that keeps one more instance off a node of a feasible
// class, given what is taken there. If the node has none, roomObstacle returns its bucket.
func (b *batch) roomObstacle(p *page, i int, slot int32, taken *overlay) (bucket int32, why obstacle) {
	n := p.nodes[i]
	bucket, why = b.bucketOrObstacle(n, slot, p.class[i])
	if why.reason != "" {
		return 0, why
	}
	if words := b.exhaustedProperty(b.buckets[bucket]); words != "" {
		return 0, obstacle{reason: words}
	}
	if dimension := b.missingResource(&candidate{used: taken.used}, n, p.capacity[i], taken); dimension != "" {
		return 0, obstacle{reason: dimension, room: true}
	}
	if _, ok := b.ask.pick(n, taken, 0); !ok {
		return 0, obstacle{reason: "network: dynamic port selection failed", room: true}
	}
	return bucket, obstacle{}
}

const notRegistered = "the node is not registered"

// notReadyReason describes why a node takes no new allocations.
func notReadyReason(n *api.Node) string {
	return fmt.Sprintf("the node takes no new allocations (status %s, %s)", n.Status, n.SchedulingEligibility)
}

// explainPinned adds to the metrics why the pinned request could not be placed.
func (b *batch) explainPinned(m *api.PlacementMetrics, r *Request) {
	m.NodesEvaluated++
	m.NodePool = b.rules.pool
	slot, ok := b.pass.view.slots.Get(r.NodeID)
	n := b.pass.view.Node(r.NodeID)
	if !ok || n == nil {
		obstacle{reason: notRegistered}.count(m, nil)
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
	_, _, why := b.findObstacle(slot)
	why.count(m, n)
	b.addDemand(m)
}
