// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// A slab is memory for many values of one type, which are used together and
// released together.
type slab[T any] []T

// take cuts n elements off the rest of the slab. They are zero.
func (s *slab[T]) take(n int) []T {
	m := *s
	if cap(m)-len(m) < n {
		m = make([]T, 0, max(2*cap(m), n))
	}
	*s = m[:len(m)+n]
	return m[len(m) : len(m)+n : len(m)+n]
}

// wipe makes the memory available again.
func (s *slab[T]) wipe() {
	clear(*s)
	*s = (*s)[:0]
}
