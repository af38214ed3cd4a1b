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

// value is the candidate's score with one more instance.
func (b *batch) value(c *candidate, n *api.Node, capacity api.Usage) float64 {
	return packed(c.used.Add(b.needOn(n)), capacity) + crowded(c.collisions, b.count) + c.affinity
}

// explain lists the terms of the best candidates' scores, before anything of
// the batch is placed.
func (b *batch) explain() []*api.NodeScore {
	var scores []*api.NodeScore
	for _, c := range b.top(explained) {
		n, capacity := b.node(c.slot)
		terms := map[string]float64{"binpack": packed(c.used.Add(b.needOn(n)), capacity)}
		if c.collisions > 0 {
			terms["job-anti-affinity"] = crowded(c.collisions, b.count)
		}
		if len(b.rules.affinities) > 0 {
			terms["node-affinity"] = c.affinity
		}
		scores = append(scores, &api.NodeScore{NodeID: n.ID, Scores: terms, NormScore: c.score})
	}
	return scores
}

// explained is how many nodes' scores are kept with an allocation.
const explained = 3

// top returns the n best candidates over all buckets, best first.
func (b *batch) top(n int) []candidate {
	best := make(heap, 0, n)
	for _, bk := range b.buckets {
		for i := range *bk.heap {
			best.keep(&(*bk.heap)[i], n)
		}
	}
	return best
}
