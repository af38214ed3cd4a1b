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

// packed scores how full a node is with used of capacity, from 0 (empty) to 1
// (full): fuller nodes are preferred, so that others stay free for what is
// large. The formula is the "best fit v3" of Google's bin packing papers.
func packed(used, capacity api.Usage) float64 {
	return (20 - powers[free(used.CPU, capacity.CPU)] - powers[free(used.MemoryMB, capacity.MemoryMB)]) / 18
}

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

// emptied scores how empty a node is, from 0 (full) to 1 (empty), for fleets
// that are to be used evenly.
func emptied(used, capacity api.Usage) float64 { return 1 - packed(used, capacity) }

// fill scores what the node would be with used of capacity, as the cluster's
// algorithm has it.
func (b *batch) fill(used, capacity api.Usage) float64 {
	if b.evenly {
		return emptied(used, capacity)
	}
	return packed(used, capacity)
}

// value is the candidate's score with one more instance.
func (b *batch) value(c *candidate, n *api.Node, capacity api.Usage, o *overlay) float64 {
	return b.fill(c.used.Add(b.needOn(n)), capacity) + crowded(c.collisions, b.count) + c.affinity + b.special.score(n, o)
}

// explain lists the terms of the best candidates' scores, before anything of
// the batch is placed.
func (b *batch) explain() []*api.NodeScore {
	var scores []*api.NodeScore
	least := b.leasts()
	for _, c := range b.top(explained) {
		scores = append(scores, b.terms(&c, least))
	}
	return scores
}

// terms are what a candidate's score is made of.
func (b *batch) terms(c *candidate, least []int) *api.NodeScore {
	n, capacity := b.node(c.slot)
	algorithm := api.AlgorithmBinpack
	if b.evenly {
		algorithm = api.AlgorithmSpread
	}
	terms := map[string]float64{algorithm: b.fill(c.used.Add(b.needOn(n)), capacity)}
	if c.collisions > 0 {
		terms["job-anti-affinity"] = crowded(c.collisions, b.count)
	}
	if len(b.rules.affinities) > 0 {
		terms["node-affinity"] = c.affinity
	}
	sum := c.score
	if b.special != nil && b.special.hasWishes() {
		terms["devices"] = b.special.score(n, b.pass.overlay(c.slot))
	}
	if len(b.rules.spreads) > 0 {
		if at, reason := b.bucketOf(n); reason == "" {
			terms["allocation-spread"] = b.bonus(b.buckets[at], least)
			sum += terms["allocation-spread"]
		}
	}
	return &api.NodeScore{NodeID: n.ID, Scores: terms, NormScore: sum}
}

// leasts are the smallest counts of the spreads' values.
func (b *batch) leasts() []int {
	least := make([]int, len(b.rules.spreads))
	for i := range least {
		least[i] = b.tally[i].least()
	}
	return least
}

// explained is how many nodes' scores are kept with an allocation.
const explained = 3

// top returns the n best candidates over all buckets, best first.
func (b *batch) top(n int) []candidate {
	best := make(heap, 0, n)
	least := b.leasts()
	for _, bk := range b.buckets {
		bonus := b.bonus(bk, least)
		for _, c := range *bk.heap {
			c.score += bonus
			best.keep(&c, n)
		}
	}
	for i := range best {
		n, _ := b.node(best[i].slot)
		if at, reason := b.bucketOf(n); reason == "" {
			best[i].score -= b.bonus(b.buckets[at], least)
		}
	}
	return best
}
