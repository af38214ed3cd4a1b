// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package facts

import (
	"github.com/reeve-run/reeve/internal/plan/slab"
)

// A Scratch is the memory that facts need only while they are used.
type Scratch struct {
	facts     Facts
	instances slab.Slab[Instance]
}

// InstancesFor returns n instances to be filled in.
func (m *Scratch) InstancesFor(n int) []Instance {
	return m.instances.Take(n)
}

// Size returns the number of elements that the memory has room for.
func (m *Scratch) Size() int { return cap(m.instances) }

// Release makes the memory available again. Nothing that it returned may be in use.
func (m *Scratch) Release() {
	m.facts = Facts{}
	m.instances.Wipe()
}
