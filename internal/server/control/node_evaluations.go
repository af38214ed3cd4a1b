// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// NodeEvaluations returns one evaluation for every job with allocations on the node.
func NodeEvaluations(snap *state.Snapshot, nodeID string, now time.Time) []*api.Evaluation {
	return nodeEvaluations(snap, nodeID, api.TriggerNodeUpdate, map[api.NamespacedID]bool{}, now)
}

// ReturnEvaluations returns one evaluation for every job with allocations on a node that was
// down and has returned, except for jobs in seen.
func ReturnEvaluations(snap *state.Snapshot, nodeID string, seen map[api.NamespacedID]bool, now time.Time) []*api.Evaluation {
	trigger := api.TriggerNodeUpdate
	if n := snap.Node(nodeID); n != nil && n.Status == api.NodeStatusDisconnected {
		trigger = api.TriggerAllocReconnect
	}
	return nodeEvaluations(snap, nodeID, trigger, seen, now)
}

// nodeEvaluations skips the jobs in seen, and adds the others to it.
func nodeEvaluations(snap *state.Snapshot, nodeID, trigger string, seen map[api.NamespacedID]bool, now time.Time) (evals []*api.Evaluation) {
	var modified uint64
	if n := snap.Node(nodeID); n != nil {
		modified = n.ModifyIndex
	}
	for a := range snap.AllocationsByNode(nodeID) {
		key := a.JobKey()
		if seen[key] || a.IsClientTerminal() {
			continue
		}
		job := snap.Job(key.Namespace, key.ID)
		if job == nil {
			job = a.Job
		}
		if job == nil {
			continue
		}
		seen[key] = true
		e := newEvaluation(job, trigger, now)
		e.NodeID, e.NodeModifyIndex = nodeID, modified
		evals = append(evals, e)
	}
	return evals
}

func newEvaluation(job *api.Job, trigger string, now time.Time) *api.Evaluation {
	return &api.Evaluation{
		ID: api.NewID(), Namespace: job.Namespace, JobID: job.ID, Type: job.Type, Priority: job.Priority,
		TriggeredBy: trigger, JobModifyIndex: job.JobModifyIndex, Status: api.EvalStatusPending,
		CreateTime: now.UnixNano(), ModifyTime: now.UnixNano(),
	}
}
