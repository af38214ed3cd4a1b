// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/quota"
)

// A Reader provides the state for an evaluation. A state.Snapshot is a Reader.
type Reader interface {
	facts.Reader
	quota.Reader
	SchedulerConfig() *api.SchedulerConfig
	VolumeClaimsOf(namespace, jobID string) iter.Seq[*api.VolumeClaim]
	HostVolume(id string) *api.HostVolume
	NodePool(name string) *api.NodePool
	AllocationsByNode(id string) iter.Seq[*api.Allocation]
}

// Policy returns the placement policy of the job: the cluster's configuration, with the
// overrides of the job's node pool. job is nil if it was purged.
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
