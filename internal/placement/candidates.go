// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import "github.com/reeve-run/reeve/api"

// A candidate is a node that can take one more instance of a group.
type candidate struct {
	score      float64 // score without the bucket's share
	affinity   float64
	used       api.Usage // including what this pass has placed
	slot       int32
	pos        uint32 // breaks ties
	collisions int32  // instances of the group on the node
}

func (c *candidate) before(d *candidate) bool {
	if c.score != d.score {
		return c.score > d.score
	}
	return c.pos < d.pos
}

// candidates is a heap with the best candidate first. Placing an instance on a node
// changes only that node's score, so one sift per placement keeps the heap exact. This is
// the innermost loop of placement, so the heap compares inline; package heap calls a
// function.
type candidates []candidate

func (h candidates) init() {
	for i := len(h)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
}

// fix restores the order after h[i] has changed.
func (h candidates) fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

// remove removes h[i].
func (h *candidates) remove(i int) {
	last := len(*h) - 1
	(*h)[i] = (*h)[last]
	*h = (*h)[:last]
	if i < last {
		h.fix(i)
	}
}

// best returns the index of the best candidate at or below i that is not to be avoided, or
// -1 if none remains. It descends only from avoided candidates.
func (h candidates) best(i int, avoid func(slot int32) bool) int {
	if i >= len(h) {
		return -1
	}
	if avoid == nil || !avoid(h[i].slot) {
		return i
	}
	left, right := h.best(2*i+1, avoid), h.best(2*i+2, avoid)
	if left < 0 || right >= 0 && h[right].before(&h[left]) {
		return right
	}
	return left
}

func (h candidates) down(i int) (moved bool) {
	for {
		first := 2*i + 1
		if first >= len(h) {
			return moved
		}
		if right := first + 1; right < len(h) && h[right].before(&h[first]) {
			first = right
		}
		if !h[first].before(&h[i]) {
			return moved
		}
		h[i], h[first] = h[first], h[i]
		i, moved = first, true
	}
}

func (h candidates) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h[i].before(&h[parent]) {
			return
		}
		h[i], h[parent] = h[parent], h[i]
		i = parent
	}
}
