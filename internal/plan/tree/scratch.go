// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package tree

import (
	"github.com/reeve-run/reeve/internal/plan/slab"
)

// A Scratch is the memory that trees need only while they are used.
type Scratch struct {
	steps  slab.Slab[Step]
	chosen slab.Slab[*Step]
	flags  slab.Slab[bool]
}

// StepsFor returns n steps to be filled in.
func (m *Scratch) StepsFor(n int) []Step {
	return m.steps.Take(n)
}

// chosenFor returns an empty list with room for n steps.
func (m *Scratch) chosenFor(n int) []*Step {
	return m.chosen.Take(n)[:0]
}

// FlagsFor returns n flags, unset.
func (m *Scratch) FlagsFor(n int) []bool {
	return m.flags.Take(n)
}

// Size returns the number of elements that the memory has room for.
func (m *Scratch) Size() int { return cap(m.steps) + cap(m.chosen) }

// Release makes the memory available again. Nothing that it returned may be in use.
func (m *Scratch) Release() {
	m.steps.Wipe()
	m.chosen.Wipe()
	m.flags.Wipe()
}
