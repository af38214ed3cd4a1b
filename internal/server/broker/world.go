// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A Fleet knows what is free on nodes; a fleet.Fleet is one.
type Fleet interface {
	// Wait returns once the fleet is at least as new as the index.
	Wait(ctx context.Context, index uint64) error
	// Free is what the node has left for allocations; false: it takes none.
	Free(nodeID string) (api.Usage, bool)
}

// stored is the world as state and fleet have it.
type stored struct {
	snapshot func() *state.Snapshot
	fleet    Fleet // nil: how much is free is not known
}

func (w *stored) free(node string) (free api.Usage, sized, ready bool) {
	if w.fleet == nil {
		return api.Usage{}, false, true
	}
	free, ready = w.fleet.Free(node)
	return free, true, ready
}

// need is never more than placement will ask for: an evaluation that is woken
// in vain costs time, one that is not woken waits for ever.
func (w *stored) need(e *api.Evaluation) need {
	snap := w.snapshot()
	job := snap.Job(e.Namespace, e.JobID)
	if job == nil {
		return need{}
	}
	n := need{
		Usage: unlimited, fixed: job.Type == api.JobTypeSystem || job.Type == api.JobTypeSysBatch,
		// Who may stop others for room does not depend on what is free.
		sized: !snap.SchedulerConfig().Preemption.Enabled(job.Type),
	}
	for _, g := range job.Groups {
		if queued, ok := e.QueuedAllocations[g.Name]; ok && queued == 0 {
			continue
		}
		u := g.Usage()
		for _, t := range g.Tasks {
			if t.Resources != nil && t.Resources.Cores != nil && *t.Resources.Cores > 0 {
				u.CPU = 0 // what cores are worth is the node's to say
			}
		}
		n.Usage = least(n.Usage, u)
		n.count += int64(e.QueuedAllocations[g.Name])
	}
	if n.Usage == unlimited {
		return need{fixed: n.fixed}
	}
	return n
}

// lacks looks at the node's allocations. An instance that is being stopped or
// has failed is as good as none.
func (w *stored) lacks(e *api.Evaluation, node string) bool {
	for a := range w.snapshot().AllocationsByNode(node) {
		if a.JobKey() == e.JobKey() && !a.IsTerminal() {
			return false
		}
	}
	return true
}
