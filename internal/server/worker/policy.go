// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
)

// A Reader is what an evaluation is worked out from; a state.Snapshot is one.
type Reader interface {
	plan.Reader
	SchedulerConfig() *api.SchedulerConfig
	NodePool(name string) *api.NodePool
	AllocationsByNode(id string) iter.Seq[*api.Allocation]
}

// Policy is how the job is to be placed: as the cluster's configuration says,
// unless the job's node pool says otherwise. Job is nil if it was purged.
func Policy(r Reader, job *api.Job) placement.Policy {
	c := r.SchedulerConfig()
	p := placement.Policy{
		Algorithm: c.Algorithm, ZoneAttribute: c.ZoneAttribute, MaxStarting: c.MaxStartingPerNode,
		MemoryOversubscription: c.MemoryOversubscriptionEnabled,
	}
	if job == nil {
		return p
	}
	if pool := r.NodePool(job.NodePool); pool != nil && pool.SchedulerConfig != nil {
		own := pool.SchedulerConfig
		if own.Algorithm != "" {
			p.Algorithm = own.Algorithm
		}
		if own.MemoryOversubscriptionEnabled != nil {
			p.MemoryOversubscription = *own.MemoryOversubscriptionEnabled
		}
	}
	if c.Preemption.Enabled(job.Type) {
		p.Held = r.AllocationsByNode
	}
	return p
}
