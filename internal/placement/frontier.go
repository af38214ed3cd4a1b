// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/reeve-run/reeve/api"

// A frontier is the unexplored part of the index: branches and leaves, ordered by an upper
// bound of the score of the nodes below. To find a bucket's candidates, the search opens
// the most promising subtree until no remaining bound exceeds the best known score. No
// node is better than the result, although few nodes were examined.
//
// This relies on the score growing with how full a node is (or how empty, if the policy is
// to spread), apart from terms that are never positive and the affinity, which is known by
// class. maxScoreBonus bounds all other terms. Nodes on which this order has already
// placed something differ from the view. They do not wait in the frontier but are
// candidates from the start. The frontier is a heap that compares inline, like candidates.
type frontier []subtree

// A subtree is a branch or a leaf of the index.
type subtree struct {
	bound  float64
	tie    uint32
	height int32 // height of the branch; 0: a leaf
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

// A demand is an instance's need in the units of the index.
type demand struct{ cpu, mem, disk uint32 }

func newDemand(u api.Usage) demand { return demand{clamp(u.CPU), clamp(u.MemoryMB), clamp(u.DiskMB)} }

// bound returns an upper bound of the score of one more instance of the batch on any node
// below. ok is false if no node below can take it.
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

// remainingShare returns the share of capacity, in 1024ths, that remains free after taking
// taken.
func remainingShare(free, taken, capacity uint32) int64 {
	if free <= taken || capacity == 0 {
		return 0
	}
	return min(int64(free-taken)*1024/int64(capacity), 1024)
}

// less returns the lowest share, in 1024ths, that remains of a free share after taking
// taken on any node with at least that capacity. Nodes of different sizes with equal free
// shares lie side by side, so the smallest node's free amount says nothing about the
// largest node.
func less(share uint16, taken, capacity uint32) int64 {
	if capacity == 0 {
		return 0
	}
	return max(int64(share)-(int64(taken)*1024+int64(capacity)-1)/int64(capacity), 0)
}

// seedFrontier adds the root of the index to each bucket's frontier, and the nodes that
// the order has changed to the candidates.
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

// maxBound exceeds every score.
const maxBound = 1e9

// bestInBucket opens subtrees that could hold a better candidate than the bucket's best.
// It returns the index of the best candidate in the heap that is not to be avoided, or -1
// if none remains.
func (b *batch) bestInBucket(bk *bucket, avoid func(slot int32) bool) int {
	for {
		i := bk.heap.best(0, avoid)
		if len(bk.frontier) == 0 || i >= 0 && (*bk.heap)[i].score >= bk.frontier[0].bound {
			return i
		}
		b.openBest(bk)
	}
}

// openBest opens the most promising subtree of the bucket's frontier.
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
			continue // already a candidate
		}
		p, at := b.pass.view.page(slot)
		if b.addCandidate(p, at, slot, k).reason == "" {
			bk.heap.up(len(*bk.heap) - 1)
		}
	}
}

// tieBreak orders nodes with equal scores. Each seed starts at a different slot, so that
// workers on the same view do not all choose the same node.
func (b *batch) tieBreak(slot int32) uint32 {
	if slot -= b.pass.turn; slot < 0 {
		slot += int32(b.pass.view.nodes)
	}
	return uint32(slot)
}
