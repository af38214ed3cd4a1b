// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package derive

import (
	"sync"

	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/tree"
)

// A scratch is the memory that plans need only while they are used: for a job of
// 1,000 new instances it is as large as the result. The next job uses it again.
type scratch struct {
	facts    facts.Scratch
	tree     tree.Scratch
	plans    Plans
	deployer deployer
}

var scratchPool = sync.Pool{New: func() any { return new(scratch) }}

// kept bounds what stays from one job to the next; very large ones are rare.
const kept = 1 << 14

// release gives the memory to the next job. Nothing that it returned may be in use.
func (m *scratch) release() {
	if m.facts.Size()+m.tree.Size() > 3*kept {
		return
	}
	m.facts.Release()
	m.tree.Release()
	m.plans, m.deployer = Plans{}, deployer{}
	scratchPool.Put(m)
}
