// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

func (v *Snapshot) writeEvaluations(f *frameWriter) int {
	return writeChunks(f, frameEvaluations, v.Evaluations())
}

func (l *loader) readEvaluations(p []byte) error {
	return loadEach(p, &l.seen.Evaluations, l.loadEvaluation)
}

type allocTmp struct {
	A    *api.Allocation
	V, C uint64
}

func (v *Snapshot) writeAllocations(f *frameWriter) int {
	return writeChunks(f, frameAllocations, func(yield func(*allocTmp) bool) {
		for a := range v.Allocations() {
			c := a.Copy()
			c.Job = nil
			if !yield(&allocTmp{c, a.Job.Version, a.Job.CreateIndex}) {
				return
			}
		}
	})
}

func (l *loader) readAllocations(p []byte) error {
	return loadEach(p, &l.seen.Allocations, func(t *allocTmp) error { return l.loadAllocation(t.A, t.V, t.C) })
}
