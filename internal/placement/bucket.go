// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/reeve-run/reeve/api"
)

// A tally counts instances by the values of one attribute, for a spread or a distinct
// property.
type tally struct {
	target target
	index  map[string]int32
	names  []string
	count  []int
	spread *spread   // nil for a distinct property
	want   []float64 // intended instances by value; see spread.want
	shared bool      // reports whether all fields but count belong to a division
}

// newTallies returns tallies for the spreads of the rules, followed by tallies for their
// distinct properties.
func newTallies(r *rules) []*tally {
	all := make([]*tally, 0, len(r.spreads)+len(r.properties))
	for i := range r.spreads {
		all = append(all, &tally{target: r.spreads[i].target, index: make(map[string]int32), spread: &r.spreads[i]})
	}
	for i := range r.properties {
		all = append(all, &tally{target: r.properties[i].target, index: make(map[string]int32)})
	}
	return all
}

func (t *tally) value(name string) int32 {
	if i, ok := t.index[name]; ok {
		return i
	}
	if t.shared {
		t.index, t.names, t.want, t.shared = maps.Clone(t.index), slices.Clip(t.names), slices.Clip(t.want), false
	}
	i := int32(len(t.names))
	t.index[name] = i
	t.names, t.count = append(t.names, name), append(t.count, 0)
	if t.spread != nil {
		t.want = append(t.want, t.spread.want(name))
	}
	return i
}

// A bucket holds the candidates with equal values for every spread and distinct property
// of the group. Spreads and properties change all scores of a bucket alike, so placing an
// instance elsewhere never changes the order within a bucket.
type bucket struct {
	values   []int32 // value numbers, by tally
	heap     *candidates
	frontier frontier        // unexplored parts of the index
	levels   []affinityLevel // the bucket's node classes
	top      int             // index of the best candidate in the heap; -1: none. See best
}

func newBucket(values []int32) *bucket {
	bk := buckets.Get().(*bucket)
	bk.values = values
	return bk
}

// buckets reuses buckets across orders. A bucket of 10,000 candidates takes more memory
// than everything else that placing an instance allocates.
var buckets = sync.Pool{New: func() any { return &bucket{heap: new(candidates)} }}

func (bk *bucket) release() {
	*bk.heap = (*bk.heap)[:0]
	clear(bk.frontier)
	bk.frontier, bk.values, bk.levels = bk.frontier[:0], nil, nil
	buckets.Put(bk)
}

// tallies prepares the counts for the group's spreads and distinct properties, including
// the instances that already run.
func (b *batch) tallies() {
	if len(b.rules.spreads)+len(b.rules.properties) == 0 {
		return
	}
	if d := b.feasibility.division; d != nil {
		b.tally = d.newTallies()
	} else {
		b.tally = newTallies(b.rules)
	}
	b.bucketAt = make(map[string]int32)
	for group, slots := range b.pass.instances {
		for slot, count := range slots {
			n, _ := b.node(slot)
			if n == nil {
				continue
			}
			for i, t := range b.tally {
				if name, ok := t.target.of(n); ok && (group == b.rules.group.Name || b.overJob(i)) {
					t.count[t.value(name)] += int(count)
				}
			}
		}
	}
	for group, slots := range b.pass.leaving {
		for slot, count := range slots {
			b.countProperties(group, slot, int(count))
		}
	}
}

// overJob reports whether tally i counts all groups of the job.
func (b *batch) overJob(i int) bool {
	i -= len(b.rules.spreads)
	return i >= 0 && b.rules.properties[i].overJob
}

// bucketOf returns the number of the node's bucket, or the distinct property that makes
// the node infeasible.
func (b *batch) bucketOf(n *api.Node) (int32, string) {
	if len(b.tally) == 0 {
		if len(b.buckets) == 0 {
			b.buckets = append(b.buckets, newBucket(nil))
		}
		return 0, ""
	}
	values := make([]int32, len(b.tally))
	var key strings.Builder
	for i, t := range b.tally {
		name, ok := t.target.of(n)
		if p := i - len(b.rules.spreads); !ok && p >= 0 {
			return 0, b.rules.properties[p].words
		}
		values[i] = t.value(name)
		key.WriteString(strconv.Itoa(int(values[i])))
		key.WriteByte(' ')
	}
	at, ok := b.bucketAt[key.String()]
	if !ok {
		at = int32(len(b.buckets))
		b.buckets = append(b.buckets, newBucket(values))
		b.bucketAt[key.String()] = at
	}
	return at, ""
}

// divide creates the buckets of all feasible node classes.
func (b *batch) divide() {
	d := b.feasibility.division
	b.bucketByClass = d.byClass
	for i, values := range d.values {
		bk := newBucket(values)
		bk.levels = d.levels[i]
		b.buckets = append(b.buckets, bk)
	}
}

// bucketAtSlot returns the bucket of a feasible node.
func (b *batch) bucketAtSlot(slot int32) *bucket {
	p, i := b.pass.view.page(slot)
	if b.bucketByClass != nil {
		return b.buckets[b.bucketByClass[p.class[i]]]
	}
	at, _ := b.bucketOf(p.nodes[i])
	return b.buckets[at]
}

// exhaustedProperty returns the distinct property that keeps the bucket from taking one
// more instance, or "".
func (b *batch) exhaustedProperty(bk *bucket) string {
	for i, p := range b.rules.properties {
		at := len(b.rules.spreads) + i
		if b.tally[at].count[bk.values[at]] >= p.limit {
			return p.words
		}
	}
	return ""
}

// spreadScore returns the spreads' share of the score for one more instance in the bucket.
func (b *batch) spreadScore(bk *bucket, least []float64) float64 {
	sum := 0.0
	for i := range b.rules.spreads {
		t, at := b.tally[i], bk.values[i]
		sum += t.spread.score(load(t.count[at], t.want[at]), least[i])
	}
	return sum
}

// best returns the candidate for the next instance: its bucket and its index in the
// bucket's heap.
func (b *batch) best(avoid func(slot int32) bool) (*bucket, int) {
	if len(b.buckets) == 0 {
		return nil, -1
	}
	if len(b.tally) == 0 {
		return b.buckets[0], b.bestInBucket(b.buckets[0], avoid)
	}
	least := b.lowestLoads(avoid)
	var found *bucket
	score, pos := 0.0, uint32(0)
	for _, bk := range b.buckets {
		if bk.top < 0 || b.exhaustedProperty(bk) != "" {
			continue
		}
		c := &(*bk.heap)[bk.top]
		s := c.score + b.spreadScore(bk, least)
		if found == nil || s > score || s == score && c.pos < pos {
			found, score, pos = bk, s, c.pos
		}
	}
	if found == nil {
		return nil, -1
	}
	return found, found.top
}

// lowestLoads finds the best candidate of every bucket and the lowest load of each spread.
// Values without candidates do not count as the lowest.
func (b *batch) lowestLoads(avoid func(slot int32) bool) []float64 {
	if b.least == nil {
		b.least = make([]float64, len(b.rules.spreads))
	}
	for i := range b.least {
		b.least[i] = math.Inf(1)
	}
	for _, bk := range b.buckets {
		bk.top = b.bestInBucket(bk, avoid)
		if len(*bk.heap) == 0 {
			continue
		}
		for i := range b.least {
			t, at := b.tally[i], bk.values[i]
			b.least[i] = min(b.least[i], load(t.count[at], t.want[at]))
		}
	}
	return b.least
}
