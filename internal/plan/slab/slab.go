// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package slab

// A Slab is memory for many values of one type, which are used together and
// released together.
type Slab[T any] []T

// Take cuts n elements off the rest of the slab. They are zero.
func (s *Slab[T]) Take(n int) []T {
	m := *s
	if cap(m)-len(m) < n {
		m = make([]T, 0, max(2*cap(m), n))
	}
	*s = m[:len(m)+n]
	return m[len(m) : len(m)+n : len(m)+n]
}

// Wipe makes the memory available again.
func (s *Slab[T]) Wipe() {
	clear(*s)
	*s = (*s)[:0]
}
