// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package heap provides the priority queue for timers, queues and searches: a binary heap
// of values without interface conversions.
package heap

// A Heap orders items so that the first one is always available. One goroutine may use a
// heap at a time.
type Heap[T any] struct {
	// Items are in heap order: Items[0] is the first one. Callers may read Items, and may
	// change one item in place if they call Fix afterwards.
	Items []T

	less  func(a, b *T) bool
	moved func(item *T, index int) // called with an item's new index, -1 once removed; may be nil
}

// New returns an empty heap. No item is less than its first item.
func New[T any](less func(a, b *T) bool) Heap[T] { return Heap[T]{less: less} }

// Len returns the number of items.
func (h *Heap[T]) Len() int { return len(h.Items) }

// Push adds an item.
func (h *Heap[T]) Push(item T) {
	h.Items = append(h.Items, item)
	h.up(len(h.Items) - 1)
}

// Pop removes the first item and returns it. The heap must not be empty.
func (h *Heap[T]) Pop() T { return h.Remove(0) }

// Remove removes the item at the index and returns it.
func (h *Heap[T]) Remove(i int) T {
	var zero T
	item, last := h.Items[i], len(h.Items)-1
	h.Items[i], h.Items[last] = h.Items[last], zero
	h.Items = h.Items[:last]
	if i < last {
		h.Fix(i)
	}
	if h.moved != nil {
		h.moved(&item, -1)
	}
	return item
}

// Fix restores the order after the item at the index has changed.
func (h *Heap[T]) Fix(i int) {
	if !h.down(i) {
		h.up(i)
	}
}

// Init orders Items after the caller has filled them.
func (h *Heap[T]) Init() {
	for i := len(h.Items)/2 - 1; i >= 0; i-- {
		h.down(i)
	}
	if h.moved != nil {
		for i := range h.Items {
			h.moved(&h.Items[i], i)
		}
	}
}

// Clear removes all items and keeps the memory.
func (h *Heap[T]) Clear() {
	clear(h.Items)
	h.Items = h.Items[:0]
}

// up moves the item at the index towards the front while it is less than its parent. It
// reports the item's index to moved even if the item stays.
func (h *Heap[T]) up(i int) {
	for i > 0 {
		parent := (i - 1) / 2
		if !h.less(&h.Items[i], &h.Items[parent]) {
			break
		}
		h.swap(i, parent)
		i = parent
	}
	if h.moved != nil {
		h.moved(&h.Items[i], i)
	}
}

// down moves the item at the index away from the front while a child is less. It reports
// whether the item moved.
func (h *Heap[T]) down(i int) (moved bool) {
	for {
		child := 2*i + 1
		if child >= len(h.Items) {
			break
		}
		if right := child + 1; right < len(h.Items) && h.less(&h.Items[right], &h.Items[child]) {
			child = right
		}
		if !h.less(&h.Items[child], &h.Items[i]) {
			break
		}
		h.swap(i, child)
		i, moved = child, true
	}
	return moved
}

// swap exchanges two items and reports their indexes to moved.
func (h *Heap[T]) swap(i, j int) {
	h.Items[i], h.Items[j] = h.Items[j], h.Items[i]
	if h.moved != nil {
		h.moved(&h.Items[i], i)
		h.moved(&h.Items[j], j)
	}
}
