// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/internal/allocset"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// Evaluations and allocations are numerous, so their frames use the log's own encoding.
// They are written in slot order, which is roughly the order of creation: neighbours have
// the most in common.

func (v *Snapshot) writeEvaluations(f *frameWriter) int {
	n, set := 0, &wire.Evaluations{}
	flush := func() {
		b, err := set.MarshalVT()
		if err != nil && f.err == nil {
			f.err = err
		}
		f.frame(frameEvaluations, b)
		set.Evaluations = set.Evaluations[:0]
	}
	for slot := range v.evaluations.next {
		if r := v.evaluations.rows.at(slot); r != nil && r.evaluation != nil {
			set.Evaluations = append(set.Evaluations, encodeEvaluation(r.evaluation))
			if n++; len(set.Evaluations) == chunk {
				flush()
			}
		}
	}
	if len(set.Evaluations) > 0 {
		flush()
	}
	return n
}

func (v *Snapshot) writeAllocations(f *frameWriter) int {
	n, e := 0, allocset.NewEncoder(chunk)
	var buffer []byte
	flush := func() {
		size := e.Set().SizeVT()
		if cap(buffer) < size {
			buffer = make([]byte, 2*size)
		}
		if _, err := e.Set().MarshalToSizedBufferVT(buffer[:size]); err != nil && f.err == nil {
			f.err = err
		}
		f.frame(frameAllocations, buffer[:size])
		e = allocset.NewEncoder(chunk)
	}
	for slot := range v.allocations.next {
		if r := v.allocations.rows.at(slot); r != nil && r.allocation != nil {
			e.Add(r.allocation)
			if n++; len(e.Set().Allocations) == chunk {
				flush()
			}
		}
		if f.err != nil {
			return n
		}
	}
	if len(e.Set().Allocations) > 0 {
		flush()
	}
	return n
}
