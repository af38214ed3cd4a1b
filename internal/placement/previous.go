// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"cmp"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Names of the score terms for a node's history with the instance.
const (
	termPrevious = "previous-node"           // the instance's data is on the node
	termFailed   = "node-reschedule-penalty" // the instance failed on the node
)

// isSticky reports whether the instance should stay on its predecessor's node: its
// directory is sticky, and it did not fail there.
func (r *Request) isSticky() bool {
	d := r.Group.EphemeralDisk
	return r.NodeID == "" && r.Recovery != api.RecoveryPermanent && r.Previous != nil && d != nil && d.Sticky != nil && *d.Sticky &&
		!slices.Contains(r.Penalised, r.Previous.NodeID)
}

// placeSticky places requests on their predecessors' nodes if these nodes can take them,
// now or once the predecessor has ended. It returns the other requests.
func (p *pass) placeSticky(b *batch, requests []*Request) (others []*Request) {
	for _, r := range requests {
		if b.overQuota(r) {
			continue
		}
		b.ignorePredecessor(r)
		a, m := b.placeBeside(r)
		waits := a == nil && b.waitsForPredecessor(r)
		if a == nil {
			b.countPredecessor(r)
		}
		if a == nil && !waits {
			b.returnQuota(r)
			others = append(others, r)
			continue
		}
		p.recordResult(b, r, a, m)
	}
	return others
}

// placeBeside places the request on its predecessor's node. It returns nil if the node
// lacks room for both or takes no allocations.
func (b *batch) placeBeside(r *Request) (*api.Allocation, *api.PlacementMetrics) {
	slot, ok := b.pass.view.slots.Get(r.Previous.NodeID)
	if !ok {
		return nil, nil
	}
	bk, o, why := b.findObstacle(slot)
	if why.reason != "" {
		return nil, nil
	}
	n, capacity := b.node(slot)
	c := candidate{slot: slot, used: o.used, affinity: b.affinity(n)}
	if b.running != nil {
		c.collisions = b.running[slot]
	}
	c.score = b.score(&c, n, capacity, o)
	terms := b.scoreTerms(&c, b.lowestLoads(nil))
	a := b.assign(r, slot, bk, o)
	if a == nil {
		return nil, nil
	}
	m := b.singleNodeMetrics(n)
	terms.Scores[termPrevious] = 1
	terms.NormScore++
	m.ScoreMetaData = []*api.NodeScore{terms}
	return a, m
}

// waitsForPredecessor reports whether the request will have room on its predecessor's node
// once the predecessor ends, and the predecessor is ending or will be stopped.
func (b *batch) waitsForPredecessor(r *Request) bool {
	if r.Replaces == nil && !r.Previous.IsServerTerminal() {
		return false
	}
	_, ok := b.slotWithRoomAfter(r.Previous)
	return ok
}

// affinity returns the sum of the weights of the group's affinities that the node meets.
func (b *batch) affinity(n *api.Node) float64 {
	sum := 0.0
	for _, a := range b.rules.affinities {
		if a.holds(n) {
			sum += a.weight
		}
	}
	return sum
}

// withHistory returns the metrics with the penalty of each node on which the instance
// failed.
func withHistory(m *api.PlacementMetrics, r *Request) *api.PlacementMetrics {
	failed := func(s *api.NodeScore) bool { return slices.Contains(r.Penalised, s.NodeID) }
	if m == nil || len(r.Penalised) == 0 || !slices.ContainsFunc(m.ScoreMetaData, failed) {
		return m
	}
	own := *m
	own.ScoreMetaData = slices.Clone(m.ScoreMetaData)
	for i, s := range own.ScoreMetaData {
		if failed(s) {
			terms := maps.Clone(s.Scores)
			terms[termFailed] = -1
			own.ScoreMetaData[i] = &api.NodeScore{NodeID: s.NodeID, Scores: terms, NormScore: s.NormScore - 1}
		}
	}
	slices.SortStableFunc(own.ScoreMetaData, func(a, b *api.NodeScore) int { return cmp.Compare(b.NormScore, a.NormScore) })
	return &own
}
