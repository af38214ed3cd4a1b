// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// A Capacity knows the free room of nodes. A fleet.Tracker is a Capacity.
type Capacity interface {
	// Wait returns once the capacity is at least as new as the index.
	Wait(ctx context.Context, index uint64) error
	// Free returns the node's free room. It returns false if the node takes no
	// allocations.
	Free(nodeID string) (api.Usage, bool)
}

// storeLookup implements lookup with the state and the capacity.
type storeLookup struct {
	snapshot func() *state.Snapshot
	capacity Capacity // nil: free room is unknown
}

func (w *storeLookup) free(node string) (free api.Usage, sized, ready bool) {
	if w.capacity == nil {
		return api.Usage{}, false, true
	}
	free, ready = w.capacity.Free(node)
	return free, true, ready
}

// need never exceeds what placement will ask for. An evaluation that is woken needlessly
// costs time, but one that is not woken waits indefinitely.
func (w *storeLookup) need(e *api.Evaluation) demand {
	snap := w.snapshot()
	job := snap.Job(e.Namespace, e.JobID)
	if job == nil {
		return demand{}
	}
	n := demand{
		Usage: unlimited, fixed: job.Type == api.JobTypeSystem || job.Type == api.JobTypeSysBatch,
		// A job that may preempt others does not depend on free room.
		sized:  !snap.SchedulerConfig().Preemption.Enabled(job.Type),
		limits: w.limits(e, snap, job),
	}
	for _, g := range job.Groups {
		if queued, ok := e.QueuedAllocations[g.Name]; ok && queued == 0 {
			continue
		}
		u := g.Usage()
		for _, t := range g.Tasks {
			if t.Resources != nil && t.Resources.Cores != nil && *t.Resources.Cores > 0 {
				u.CPU = 0 // the node determines the MHz of a core
			}
		}
		n.Usage = least(n.Usage, u)
		n.count += int64(e.QueuedAllocations[g.Name])
	}
	if n.Usage == unlimited {
		return demand{fixed: n.fixed, limits: n.limits}
	}
	return n
}

// lacks examines the node's allocations. An instance that is being stopped or has failed
// does not count.
func (w *storeLookup) lacks(e *api.Evaluation, node string) bool {
	for a := range w.snapshot().AllocationsByNode(node) {
		if a.JobKey() == e.JobKey() && !a.IsTerminal() {
			return false
		}
	}
	return true
}
