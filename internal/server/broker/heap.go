// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import "container/heap"

// ordered is a heap of items that know their slot in it, so that any of them
// can be moved or taken out.
type ordered[T any] struct {
	items []T
	less  func(a, b T) bool
	slot  func(T) *int
}

func (h *ordered[T]) Len() int           { return len(h.items) }
func (h *ordered[T]) Less(i, j int) bool { return h.less(h.items[i], h.items[j]) }

func (h *ordered[T]) Swap(i, j int) {
	h.items[i], h.items[j] = h.items[j], h.items[i]
	*h.slot(h.items[i]), *h.slot(h.items[j]) = i, j
}

// Push is for container/heap alone.
func (h *ordered[T]) Push(x any) {
	item := x.(T)
	*h.slot(item) = len(h.items)
	h.items = append(h.items, item)
}

// Pop is for container/heap alone.
func (h *ordered[T]) Pop() any {
	last := len(h.items) - 1
	item := h.items[last]
	var none T
	h.items[last] = none
	h.items = h.items[:last]
	*h.slot(item) = -1
	return item
}

// put adds the item, or moves it to where it now belongs.
func (h *ordered[T]) put(item T) {
	if i := *h.slot(item); i >= 0 {
		heap.Fix(h, i)
		return
	}
	heap.Push(h, item)
}

func (h *ordered[T]) remove(item T) {
	if i := *h.slot(item); i >= 0 {
		heap.Remove(h, i)
	}
}

func (h *ordered[T]) first() (T, bool) {
	if len(h.items) == 0 {
		var none T
		return none, false
	}
	return h.items[0], true
}
