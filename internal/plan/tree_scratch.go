// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// A treeScratch is the memory that trees need only while they are used.
type treeScratch struct {
	steps  slab[step]
	chosen slab[*step]
	flags  slab[bool]
}

// stepsFor returns n steps to be filled in.
func (m *treeScratch) stepsFor(n int) []step {
	return m.steps.take(n)
}

// chosenFor returns an empty list with room for n steps.
func (m *treeScratch) chosenFor(n int) []*step {
	return m.chosen.take(n)[:0]
}

// flagsFor returns n flags, unset.
func (m *treeScratch) flagsFor(n int) []bool {
	return m.flags.take(n)
}

// size returns the number of elements that the memory has room for.
func (m *treeScratch) size() int { return cap(m.steps) + cap(m.chosen) }

// release makes the memory available again. Nothing that it returned may be in use.
func (m *treeScratch) release() {
	m.steps.wipe()
	m.chosen.wipe()
	m.flags.wipe()
}
