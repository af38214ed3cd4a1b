// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math"

	"github.com/reeve-run/reeve/api"
)

// powers holds 10^(i/1024). A call of math.Pow per node would cost more than everything
// else in the loop.
var powers = func() (t [1025]float64) {
	for i := range t {
		t[i] = math.Pow(10, float64(i)/1024)
	}
	return t
}()

// packed scores how full a node is, given the free shares of its CPU and memory in
// 1024ths: from 0 (empty) to 1 (full). Fuller nodes are preferred, which keeps other nodes
// free for large instances. The formula is the "best fit v3" of Google's bin packing
// papers.
func packed(cpu, mem int64) float64 { return (20 - powers[cpu] - powers[mem]) / 18 }

// free returns the free share in 1024ths.
func free(used, capacity int64) int64 {
	if capacity <= 0 || used >= capacity {
		return 0
	}
	return (capacity - used) * 1024 / capacity
}

// crowded returns the penalty for n instances of the same group on a node. Up to three
// instances it outweighs any packing; the more instances run, the less one node matters.
func crowded(n int32, count int) float64 {
	if n == 0 {
		return 0
	}
	return -3 * float64(n) / float64(max(count, 3))
}

// utilizationScore scores a node with used of capacity taken, by the cluster's algorithm.
func (b *batch) utilizationScore(used, capacity api.Usage) float64 {
	return b.packingScore(free(used.CPU, capacity.CPU), free(used.MemoryMB, capacity.MemoryMB))
}

// packingScore returns packed, or its opposite if the algorithm spreads load.
func (b *batch) packingScore(cpu, mem int64) float64 {
	if b.evenly {
		return 1 - packed(cpu, mem)
	}
	return packed(cpu, mem)
}

// score returns the candidate's score with one more instance.
func (b *batch) score(c *candidate, n *api.Node, capacity api.Usage, o *overlay) float64 {
	return b.utilizationScore(c.used.Add(b.demandOn(n)), capacity) + crowded(c.collisions, b.count) + c.affinity + b.special.score(n, o)
}

// maxScoreBonus returns an upper bound of the terms that score adds to the utilization and
// to the affinity of the node's class.
func (b *batch) maxScoreBonus() float64 {
	if b.special != nil && b.special.hasAffinities() {
		return 1
	}
	return 0
}

// scoreMetadata lists the terms of the best candidates' scores before the batch places
// anything.
func (b *batch) scoreMetadata() []*api.NodeScore {
	least := b.lowestLoads(nil)
	best := b.top(explained, least)
	scores := make([]*api.NodeScore, len(best))
	for i := range best {
		scores[i] = b.scoreTerms(&best[i], least)
	}
	return scores
}

// scoreTerms returns the terms of a candidate's score.
func (b *batch) scoreTerms(c *candidate, least []float64) *api.NodeScore {
	n, capacity := b.node(c.slot)
	algorithm := api.AlgorithmBinpack
	if b.evenly {
		algorithm = api.AlgorithmSpread
	}
	terms := map[string]float64{algorithm: b.utilizationScore(c.used.Add(b.demandOn(n)), capacity)}
	if c.collisions > 0 {
		terms["job-anti-affinity"] = crowded(c.collisions, b.count)
	}
	if len(b.rules.affinities) > 0 {
		terms["node-affinity"] = c.affinity
	}
	sum := c.score
	if b.special != nil && b.special.hasAffinities() {
		terms["devices"] = b.special.score(n, b.pass.overlay(c.slot))
	}
	if len(b.rules.spreads) > 0 {
		terms["allocation-spread"] = b.spreadScore(b.bucketAtSlot(c.slot), least)
		sum += terms["allocation-spread"]
	}
	return &api.NodeScore{NodeID: n.ID, Scores: terms, NormScore: sum}
}

// explained is the number of nodes whose scores are kept with an allocation.
const explained = 3

// top returns the n best candidates over all buckets, best first.
func (b *batch) top(n int, least []float64) []candidate {
	m := b.pass.scratch
	best := m.best[:0]
	for _, bk := range b.buckets {
		known := bk.best(n, m.known)
		for len(bk.frontier) > 0 && (len(known) < n || known[n-1].score < bk.frontier[0].bound) {
			b.openBest(bk)
			known = bk.best(n, known)
		}
		m.known = known
		bonus := b.spreadScore(bk, least)
		for _, c := range known {
			c.score += bonus
			best.keep(&c, n)
		}
	}
	m.best = best
	for i := range best {
		best[i].score -= b.spreadScore(b.bucketAtSlot(best[i].slot), least)
	}
	return best
}

// best returns the n best of the known candidates, in the memory of h.
func (bk *bucket) best(n int, h candidates) candidates {
	h = h[:0]
	for i := range *bk.heap {
		h.keep(&(*bk.heap)[i], n)
	}
	return h
}

// keep inserts c if it is among the n best, in order.
func (h *candidates) keep(c *candidate, n int) {
	at := len(*h)
	if at == n {
		if !c.before(&(*h)[n-1]) {
			return
		}
		at = n - 1
	} else {
		*h = append(*h, candidate{})
	}
	for ; at > 0 && c.before(&(*h)[at-1]); at-- {
		(*h)[at] = (*h)[at-1]
	}
	(*h)[at] = *c
}
