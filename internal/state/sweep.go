// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A sweep reads a table in parts: first the objects of some slots, later those of the next
// slots, on a newer snapshot. An object keeps its slot for life. Repeated sweeps over all
// slots therefore meet every lasting object, without keeping anything in between.

// Slots returns the number of slots of the table. Its objects are in slots from 0; some
// slots are empty.
func (v *Snapshot) Slots(t Table) uint32 {
	switch t {
	case TableJobs:
		return v.jobs.next
	case TableEvaluations:
		return v.evaluations.next
	case TableAllocations:
		return v.allocations.next
	case TableDeployments:
		return v.deployments.next
	case TableNodes:
		return v.nodes.next
	case TableRestarts:
		return v.restarts.next
	}
	return 0
}

// SweepJobs yields the jobs in the slots from first on, with their slots; nil for an empty
// slot. The other Sweep methods do likewise.
func (v *Snapshot) SweepJobs(first uint32) iter.Seq2[uint32, *api.Job] {
	return sweep(&v.jobs, first, func(r **jobRow) *api.Job {
		if *r == nil {
			return nil
		}
		return (*r).job
	})
}

// SweepEvaluations yields the evaluations in the slots from first on, with
// their slots.
func (v *Snapshot) SweepEvaluations(first uint32) iter.Seq2[uint32, *api.Evaluation] {
	return sweep(&v.evaluations, first, func(r *evaluationRow) *api.Evaluation { return r.evaluation })
}

// SweepAllocations yields the allocations in the slots from first on, with
// their slots.
func (v *Snapshot) SweepAllocations(first uint32) iter.Seq2[uint32, *api.Allocation] {
	return sweep(&v.allocations, first, func(r *allocationRow) *api.Allocation { return r.allocation })
}

// SweepDeployments yields the deployments in the slots from first on, with
// their slots.
func (v *Snapshot) SweepDeployments(first uint32) iter.Seq2[uint32, *api.Deployment] {
	return sweep(&v.deployments, first, func(r *deploymentRow) *api.Deployment { return r.deployment })
}

// SweepNodes yields the nodes in the slots from first on, with their slots.
func (v *Snapshot) SweepNodes(first uint32) iter.Seq2[uint32, *api.Node] {
	return sweep(&v.nodes, first, func(r *nodeRow) *api.Node { return r.node })
}

// SweepRestarts yields the restarts in the slots from first on, with their
// slots.
func (v *Snapshot) SweepRestarts(first uint32) iter.Seq2[uint32, *api.JobRestart] {
	return sweep(&v.restarts, first, func(r *restartRow) *api.JobRestart { return r.restart })
}

// sweep yields every slot, including empty ones, because examining them takes time too.
func sweep[R, T any](t *table[R], first uint32, object func(*R) *T) iter.Seq2[uint32, *T] {
	return func(yield func(uint32, *T) bool) {
		for slot := first; slot < t.next; slot++ {
			var o *T
			if r := t.rows.at(slot); r != nil {
				o = object(r)
			}
			if !yield(slot, o) {
				return
			}
		}
	}
}
