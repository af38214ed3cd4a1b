// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/state"
)

// preempt adds to the placement the allocations that it preempts, and an evaluation for
// each job that loses one, so that its instances are placed elsewhere or wait.
func preempt(p *state.Placement, preempted []placement.Preemption, snap *state.Snapshot, now time.Time) {
	seen := map[api.NamespacedID]bool{}
	for _, v := range preempted {
		p.Preempt = append(p.Preempt, state.Preemption{ID: v.Alloc.ID, By: v.By.ID})
		key := v.Alloc.JobKey()
		if seen[key] {
			continue
		}
		seen[key] = true
		job := snap.Job(key.Namespace, key.ID)
		if job == nil {
			continue // purged: no instance of it is to run
		}
		p.Evaluations = append(p.Evaluations[:len(p.Evaluations):len(p.Evaluations)], &api.Evaluation{
			ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: job.Priority,
			TriggeredBy: api.TriggerPreemption, PreviousEval: p.EvalID, JobModifyIndex: job.JobModifyIndex,
			Status: api.EvalStatusPending, CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
		})
	}
}
