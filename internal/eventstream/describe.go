// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

func describeJob(e *api.Event, c change[api.Job]) {
	job := c.object
	e.Key, e.Namespace, e.FilterKeys = job.ID, job.Namespace, keys(job.ParentID)
	switch {
	case c.op == state.Delete, job.Stop && (c.old == nil || !c.old.Stop):
		e.Type = api.EventTypeJobDeregistered
	case c.old == nil || c.old.JobModifyIndex != job.JobModifyIndex:
		e.Type = api.EventTypeJobRegistered
	default:
		e.Type = api.EventTypeJobStatusUpdated
	}
}

func describeEvaluation(e *api.Event, c change[api.Evaluation]) {
	e.Type = c.choose(api.EventTypeEvaluationUpdated, api.EventTypeEvaluationDeleted)
	e.Key, e.Namespace, e.FilterKeys = c.object.ID, c.object.Namespace, keys(c.object.JobID, c.object.DeploymentID)
}

// describeAllocation omits the job: it is larger than the rest of the allocation, and
// subscribers can read it separately.
func describeAllocation(e *api.Event, c change[api.Allocation]) {
	a := c.object
	e.Key, e.Namespace, e.FilterKeys = a.ID, a.Namespace, keys(a.JobID, a.DeploymentID, a.NodeID)
	switch {
	case c.op == state.Delete:
		e.Type = api.EventTypeAllocationDeleted
	case c.old != nil && c.old.DesiredStatus != a.DesiredStatus:
		e.Type = api.EventTypeAllocStatusUpdated
	default:
		e.Type = api.EventTypeAllocationUpdated
	}
	shown := a.Copy()
	shown.Job = nil
	e.Payload = map[string]any{e.Topic: shown}
}

func describeDeployment(e *api.Event, c change[api.Deployment]) {
	e.Type = c.choose(api.EventTypeDeploymentUpdated, api.EventTypeDeploymentDeleted)
	e.Key, e.Namespace, e.FilterKeys = c.object.ID, c.object.Namespace, keys(c.object.JobID)
}

func describeNode(e *api.Event, c change[api.Node]) {
	e.Key = c.object.ID
	switch {
	case c.op == state.Delete:
		e.Type = api.EventTypeNodeDeregistered
	case c.old == nil:
		e.Type = api.EventTypeNodeRegistered
	default:
		e.Type = api.EventTypeNodeStatusUpdated
	}
	e.Payload = map[string]any{e.Topic: c.object}
}

func describeDecision(e *api.Event, c change[api.Decision]) {
	e.Type = c.choose(api.EventTypePlanDecided, api.EventTypePlanForgotten)
	e.Key, e.Namespace, e.FilterKeys = c.object.ID, c.object.Namespace, keys(c.object.JobID, c.object.Plan)
}

func describeRestart(e *api.Event, c change[api.JobRestart]) {
	e.Type = c.choose(api.EventTypeRestartUpdated, api.EventTypeRestartDeleted)
	e.Key, e.Namespace, e.FilterKeys = c.object.ID, c.object.Namespace, keys(c.object.JobID)
}

func describeCallback(e *api.Event, c change[api.Callback]) {
	e.Type = c.choose(api.EventTypeCallbackUpdated, api.EventTypeCallbackDeleted)
	e.Key, e.Namespace, e.FilterKeys = c.object.ID, c.object.Namespace, keys(c.object.JobID)
	e.Payload = map[string]any{e.Topic: c.object.Shown()}
}

func allCallbacks(v *state.Snapshot) iter.Seq[*api.Callback] { return v.CallbacksPrefix("") }

// keys returns the values that are not empty.
func keys(values ...string) []string {
	kept := make([]string, 0, len(values))
	for _, v := range values {
		if v != "" {
			kept = append(kept, v)
		}
	}
	return kept
}
