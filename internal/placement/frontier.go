// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/reeve-run/reeve/api"

// A frontier is the part of the index that was not looked into: branches and
// leaves, by the most that a node below can be worth. The candidates of a bucket
// are found by opening the most promising one, until none is left that could
// hold a better one than the best that is known: no node is better than that,
// though few were looked at.
//
// It relies on the score growing with how full a node is (or how empty, where
// the policy is to spread), apart from terms that are never positive and the
// affinity that is known by class. What else adds to a score is bounded by slack.
// Nodes that hold less or more than the view has of them, because something of
// the same order was placed there, do not wait in the frontier: they are
// candidates from the start. It is a heap that compares inline, as candidates is.
type frontier []subtree

// A subtree is a branch or a leaf of the index.
type subtree struct {
	bound  float64
	tie    uint32
	height int32 // of a branch; 0: a leaf
	branch *branch
	leaf   *leaf
}

func (u *subtree) before(v *subtree) bool {
	if u.bound != v.bound {
		return u.bound > v.bound
	}
	return u.tie < v.tie
}

func (f *frontier) push(u subtree) {
	h := append(*f, u)
	i := len(h) - 1
	for i > 0 {
		parent := (i - 1) / 2
		if !u.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = u
	*f = h
}

func (f *frontier) pop() subtree {
	h := *f
	top, last := h[0], h[len(h)-1]
	h[len(h)-1] = subtree{}
	h = h[:len(h)-1]
	*f = h
	if len(h) == 0 {
		return top
	}
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if r := child + 1; r < len(h) && h[r].before(&h[child]) {
			child = r
		}
		if !h[child].before(&last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = last
	return top
}

// A demand is what an instance needs of a node, as the index counts.
type demand struct{ cpu, mem, disk uint32 }

func newDemand(u api.Usage) demand { return demand{clamp(u.CPU), clamp(u.MemoryMB), clamp(u.DiskMB)} }

// bound is the most that a node below can be worth for one more instance of the
// batch; ok is false if none can take it.
func (b *batch) bound(s *summary, levels []affinityLevel) (bound float64, ok bool) {
	w := &b.want
	if s.maxFreeCPU < w.cpu || s.maxFreeMem < w.mem || s.maxFreeDisk < w.disk {
		return 0, false
	}
	for i := range levels {
		if levels[i].classes&s.classes == 0 {
			continue
		}
		var fit float64
		if b.evenly {
			fit = b.packingScore(remainingShare(s.maxFreeCPU, w.cpu, s.minCapCPU), remainingShare(s.maxFreeMem, w.mem, s.minCapMem))
		} else {
			fit = b.packingScore(
				max(remainingShare(s.minFreeCPU, w.cpu, s.capCPU), less(s.minShareCPU, w.cpu, s.minCapCPU)),
				max(remainingShare(s.minFreeMem, w.mem, s.capMem), less(s.minShareMem, w.mem, s.minCapMem)))
		}
		return fit + levels[i].affinity + b.maxScoreBonus(), true
	}
	return 0, false
}

// remainingShare is the share in 1024ths that is left of what is free once it is taken
// from.
func remainingShare(free, taken, capacity uint32) int64 {
	if free <= taken || capacity == 0 {
		return 0
	}
	return min(int64(free-taken)*1024/int64(capacity), 1024)
}

// less is the least share in 1024ths that is left of a share, once it is taken
// from, on any node of at least that capacity. Nodes of several sizes that are
// equally free lie side by side: what the smallest has free says nothing of the
// largest.
func less(share uint16, taken, capacity uint32) int64 {
	if capacity == 0 {
		return 0
	}
	return max(int64(share)-(int64(taken)*1024+int64(capacity)-1)/int64(capacity), 0)
}

// seedFrontier puts the whole index before the bucket, and what the order has changed
// among its candidates.
func (b *batch) seedFrontier() {
	x := &b.pass.view.ready
	for _, bk := range b.buckets {
		if x.root != nil {
			bk.frontier.push(subtree{bound: maxBound, height: int32(x.height), branch: x.root})
		}
	}
	for slot := range b.pass.touched {
		p, i := b.pass.view.page(slot)
		if k := b.verdict(p.class[i]); p.isReady(i) && k.fits() {
			b.addCandidate(p, i, slot, k)
		}
	}
	for _, bk := range b.buckets {
		bk.heap.init()
	}
}

// maxBound is more than any score.
const maxBound = 1e9

// bestInBucket opens what could hold a better candidate than the bucket's best, those
// to be avoided apart, and returns the best's place in the heap; -1 if there is
// none.
func (b *batch) bestInBucket(bk *bucket, avoid func(slot int32) bool) int {
	for {
		i := bk.heap.best(0, avoid)
		if len(bk.frontier) == 0 || i >= 0 && (*bk.heap)[i].score >= bk.frontier[0].bound {
			return i
		}
		b.openBest(bk)
	}
}

// openBest looks into the most promising part of the bucket's frontier.
func (b *batch) openBest(bk *bucket) {
	u := bk.frontier.pop()
	if u.height == 0 {
		b.openLeaf(bk, u.leaf)
		return
	}
	for i := range u.branch.n {
		s := &u.branch.sums[i]
		bound, ok := b.bound(s, bk.levels)
		if !ok {
			continue
		}
		next := subtree{bound: bound, height: u.height - 1, tie: b.tieBreak(int32(u.branch.keys[i] & slotMask))}
		if next.height == 0 {
			next.leaf = u.branch.leaves[i]
		} else {
			next.branch = u.branch.kids[i]
		}
		bk.frontier.push(next)
	}
}

func (b *batch) openLeaf(bk *bucket, l *leaf) {
	w := &b.want
	for i := range l.n {
		e := &l.entries[i]
		if e.freeCPU < w.cpu || e.freeMem < w.mem || e.freeDisk < w.disk {
			continue
		}
		k := b.verdict(e.class)
		if !k.fits() || b.bucketByClass != nil && b.buckets[b.bucketByClass[e.class]] != bk {
			continue
		}
		slot := e.slot()
		if b.before > 0 && b.pass.touched[slot] != nil {
			continue // it was a candidate from the start
		}
		p, at := b.pass.view.page(slot)
		if b.addCandidate(p, at, slot, k).reason == "" {
			bk.heap.up(len(*bk.heap) - 1)
		}
	}
}

// tieBreak decides between nodes of one score: for every seed the turn begins with
// another, so that workers at work on the same view do not all take the same.
func (b *batch) tieBreak(slot int32) uint32 {
	if slot -= b.pass.turn; slot < 0 {
		slot += int32(b.pass.view.nodes)
	}
	return uint32(slot)
}
