// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"math"

	"github.com/reeve-run/reeve/api"
)

// powers holds 10^(i/1024): calling math.Pow per node would cost more than
// everything else in the loop.
var powers = func() (t [1025]float64) {
	for i := range t {
		t[i] = math.Pow(10, float64(i)/1024)
	}
	return t
}()

// packed scores how full a node is, by what shares of its CPU and memory are
// free in 1024ths: from 0 (empty) to 1 (full). Fuller nodes are preferred, so
// that others stay free for what is large. The formula is the "best fit v3" of
// Google's bin packing papers.
func packed(cpu, mem int64) float64 { return (20 - powers[cpu] - powers[mem]) / 18 }

// free is the free share in 1024ths.
func free(used, capacity int64) int64 {
	if capacity <= 0 || used >= capacity {
		return 0
	}
	return (capacity - used) * 1024 / capacity
}

// crowded is the penalty for n instances of the same group on a node. Up to
// three instances it outweighs any packing; the more there are, the less one
// node matters.
func crowded(n int32, count int) float64 {
	if n == 0 {
		return 0
	}
	return -3 * float64(n) / float64(max(count, 3))
}

// utilizationScore scores what the node would be with used of capacity, as the cluster's
// algorithm has it.
func (b *batch) utilizationScore(used, capacity api.Usage) float64 {
	return b.packingScore(free(used.CPU, capacity.CPU), free(used.MemoryMB, capacity.MemoryMB))
}

// packingScore is packed, or, for fleets that are to be used evenly, the opposite.
func (b *batch) packingScore(cpu, mem int64) float64 {
	if b.evenly {
		return 1 - packed(cpu, mem)
	}
	return packed(cpu, mem)
}

// score is the candidate's score with one more instance.
func (b *batch) score(c *candidate, n *api.Node, capacity api.Usage, o *overlay) float64 {
	return b.utilizationScore(c.used.Add(b.demandOn(n)), capacity) + crowded(c.collisions, b.count) + c.affinity + b.special.score(n, o)
}

// maxScoreBonus bounds what value adds to how the node is filled and to the affinity of
// its class.
func (b *batch) maxScoreBonus() float64 {
	if b.special != nil && b.special.hasAffinities() {
		return 1
	}
	return 0
}

// scoreMetadata lists the terms of the best candidates' scores, before anything of
// the batch is placed.
func (b *batch) scoreMetadata() []*api.NodeScore {
	least := b.lowestLoads(nil)
	best := b.top(explained, least)
	scores := make([]*api.NodeScore, len(best))
	for i := range best {
		scores[i] = b.scoreTerms(&best[i], least)
	}
	return scores
}

// scoreTerms are what a candidate's score is made of.
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

// explained is how many nodes' scores are kept with an allocation.
const explained = 3

// top returns the n best candidates over all buckets, best first.
func (b *batch) top(n int, least []float64) []candidate {
	m := b.pass.memory
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

// best returns the n best of the candidates that are known, in the memory of h.
func (bk *bucket) best(n int, h candidates) candidates {
	h = h[:0]
	for i := range *bk.heap {
		h.keep(&(*bk.heap)[i], n)
	}
	return h
}

// keep puts c among the n best, in order.
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
