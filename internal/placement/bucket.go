// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"strconv"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// A tally counts instances by the values of one attribute, for a spread or a
// distinct property.
type tally struct {
	target target
	index  map[string]int32
	names  []string
	count  []int
	live   []int // candidates with the value: without any, it is never the least
}

func newTally(t target) *tally { return &tally{target: t, index: make(map[string]int32)} }

func (t *tally) value(name string) int32 {
	if i, ok := t.index[name]; ok {
		return i
	}
	i := int32(len(t.names))
	t.index[name] = i
	t.names, t.count, t.live = append(t.names, name), append(t.count, 0), append(t.live, 0)
	return i
}

// least is the smallest count of a value that has candidates.
func (t *tally) least() int {
	least := -1
	for i, n := range t.count {
		if t.live[i] > 0 && (least < 0 || n < least) {
			least = n
		}
	}
	return max(least, 0)
}

// A bucket holds the candidates that are alike for every spread and distinct
// property of the group, so what those say of one node they say of all: within
// a bucket the order never changes when an instance is placed elsewhere.
type bucket struct {
	values []int32 // by tally
	heap   *heap   // from heaps; given back by the batch's release
}

func newBucket(values []int32) *bucket {
	h := heaps.Get().(*heap)
	*h = (*h)[:0]
	return &bucket{values: values, heap: h}
}

// tallies prepares counting for the group's spreads, then its properties, with
// the instances that already run.
func (b *batch) tallies() {
	for i := range b.rules.spreads {
		b.tally = append(b.tally, newTally(b.rules.spreads[i].target))
	}
	for i := range b.rules.properties {
		b.tally = append(b.tally, newTally(b.rules.properties[i].target))
	}
	if len(b.tally) == 0 {
		return
	}
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
}

// overJob reports whether tally i counts all groups of the job.
func (b *batch) overJob(i int) bool {
	i -= len(b.rules.spreads)
	return i >= 0 && b.rules.properties[i].overJob
}

// bucketOf returns the number of the node's bucket, or what makes it unfit.
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

// drop takes a candidate that is full out of its bucket.
func (b *batch) drop(bk *bucket, i int) {
	bk.heap.remove(i)
	for at, t := range b.tally {
		t.live[bk.values[at]]--
	}
}

// closed returns the distinct property that keeps the bucket from taking one
// more, or "".
func (b *batch) closed(bk *bucket) string {
	for i, p := range b.rules.properties {
		at := len(b.rules.spreads) + i
		if b.tally[at].count[bk.values[at]] >= p.limit {
			return p.words
		}
	}
	return ""
}

// bonus is what the spreads say of one more instance in each bucket.
func (b *batch) bonus(bk *bucket, least []int) float64 {
	sum := 0.0
	for i := range b.rules.spreads {
		t, at := b.tally[i], bk.values[i]
		sum += b.rules.spreads[i].score(t.names[at], t.count[at], least[i])
	}
	return sum
}

// best finds the candidate for the next instance: its bucket, and its index in
// the bucket's heap.
func (b *batch) best(avoid func(slot int32) bool) (*bucket, int) {
	if len(b.buckets) == 1 && len(b.tally) == 0 {
		return b.buckets[0], b.buckets[0].heap.best(0, avoid)
	}
	least := b.leasts()
	var found *bucket
	index, score, pos := -1, 0.0, int32(0)
	for _, bk := range b.buckets {
		if len(*bk.heap) == 0 || b.closed(bk) != "" {
			continue
		}
		i := bk.heap.best(0, avoid)
		if i < 0 {
			continue
		}
		s := (*bk.heap)[i].score + b.bonus(bk, least)
		if index < 0 || s > score || s == score && (*bk.heap)[i].pos < pos {
			found, index, score, pos = bk, i, s, (*bk.heap)[i].pos
		}
	}
	return found, index
}
