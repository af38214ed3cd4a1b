// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package heap

// Indexed is a heap of items that store their own index, so that any item can be moved or
// removed. The index of an item outside of a heap is -1. The creator of an item sets it to
// -1 initially.
type Indexed[T any] struct {
	heap  Heap[T]
	index func(T) *int
}

// NewIndexed returns an empty heap. index returns a pointer to the field in which an item
// stores its index.
func NewIndexed[T any](less func(a, b T) bool, index func(T) *int) Indexed[T] {
	return Indexed[T]{
		heap: Heap[T]{
			less:  func(a, b *T) bool { return less(*a, *b) },
			moved: func(item *T, i int) { *index(*item) = i },
		},
		index: index,
	}
}

// Len returns the number of items.
func (h *Indexed[T]) Len() int { return len(h.heap.Items) }

// Items returns the items in heap order. Do not change the slice.
func (h *Indexed[T]) Items() []T { return h.heap.Items }

// First returns the first item; ok is false if the heap is empty.
func (h *Indexed[T]) First() (item T, ok bool) {
	if len(h.heap.Items) == 0 {
		return item, false
	}
	return h.heap.Items[0], true
}

// Put adds the item, or restores the order if the item is in the heap and has changed.
func (h *Indexed[T]) Put(item T) {
	if i := *h.index(item); i >= 0 {
		h.heap.Fix(i)
		return
	}
	h.heap.Push(item)
}

// Remove removes the item if it is in the heap.
func (h *Indexed[T]) Remove(item T) {
	if i := *h.index(item); i >= 0 {
		h.heap.Remove(i)
	}
}
