// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package plan

// A factsScratch is the memory that facts need only while they are used.
type factsScratch struct {
	facts     facts
	instances slab[instance]
}

// instancesFor returns n instances to be filled in.
func (m *factsScratch) instancesFor(n int) []instance {
	return m.instances.take(n)
}

// size returns the number of elements that the memory has room for.
func (m *factsScratch) size() int { return cap(m.instances) }

// release makes the memory available again. Nothing that it returned may be in use.
func (m *factsScratch) release() {
	m.facts = facts{}
	m.instances.wipe()
}
