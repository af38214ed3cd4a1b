// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// eventOf tells a change as an event; nil for what is not told. A deleted
// object's event shows it as it last was.
func eventOf(index uint64, change state.Change) *api.Event {
	object := change.New
	if change.Op == state.Delete {
		object = change.Old
	}
	e := &api.Event{Index: index, Deleted: change.Op == state.Delete, FilterKeys: []string{}}
	switch object := object.(type) {
	case *api.Job:
		describeJob(e, change, object)
	case *api.Evaluation:
		e.Topic, e.Type = api.TopicEvaluation, pick(change, api.EventTypeEvaluationUpdated, api.EventTypeEvaluationDeleted)
		e.Key, e.Namespace = object.ID, object.Namespace
		e.FilterKeys = keys(object.JobID, object.DeploymentID)
	case *api.Allocation:
		describeAllocation(e, change, object)
		return e
	case *api.Deployment:
		e.Topic, e.Type = api.TopicDeployment, pick(change, api.EventTypeDeploymentUpdated, api.EventTypeDeploymentDeleted)
		e.Key, e.Namespace = object.ID, object.Namespace
		e.FilterKeys = keys(object.JobID)
	case *api.Node:
		describeNode(e, change, object)
		return e
	case *api.NodePool:
		e.Topic, e.Type, e.Key = api.TopicNodePool, pick(change, api.EventTypeNodePoolUpserted, api.EventTypeNodePoolDeleted), object.Name
	case *api.Domain:
		e.Topic, e.Type, e.Key = api.TopicDomain, api.EventTypeDomainFresh, object.Name
		if object.Stale {
			e.Type = api.EventTypeDomainStale
		}
	case *api.Decision:
		e.Topic, e.Type = api.TopicPlan, pick(change, api.EventTypePlanDecided, api.EventTypePlanForgotten)
		e.Key, e.Namespace = object.ID, object.Namespace
		e.FilterKeys = keys(object.JobID, object.Plan)
	case *api.JobRestart:
		e.Topic, e.Type = api.TopicRestart, pick(change, api.EventTypeRestartUpdated, api.EventTypeRestartDeleted)
		e.Key, e.Namespace = object.ID, object.Namespace
		e.FilterKeys = keys(object.JobID)
	case *api.Callback:
		e.Topic, e.Type = api.TopicCallback, pick(change, api.EventTypeCallbackUpdated, api.EventTypeCallbackDeleted)
		e.Key, e.Namespace = object.ID, object.Namespace
		e.FilterKeys = keys(object.JobID)
		e.Payload = map[string]any{e.Topic: object.Shown()}
		return e
	default:
		return nil
	}
	e.Payload = map[string]any{e.Topic: object}
	return e
}

func describeJob(e *api.Event, change state.Change, job *api.Job) {
	e.Topic, e.Key, e.Namespace = api.TopicJob, job.ID, job.Namespace
	e.FilterKeys = keys(job.ParentID)
	old, _ := change.Old.(*api.Job)
	switch {
	case change.Op == state.Delete, job.Stop && (old == nil || !old.Stop):
		e.Type = api.EventTypeJobDeregistered
	case old == nil || old.JobModifyIndex != job.JobModifyIndex:
		e.Type = api.EventTypeJobRegistered
	default:
		e.Type = api.EventTypeJobStatusUpdated
	}
}

// describeAllocation leaves the job out: it is as large as all else together,
// and the subscriber can have it once.
func describeAllocation(e *api.Event, change state.Change, a *api.Allocation) {
	e.Topic, e.Key, e.Namespace = api.TopicAllocation, a.ID, a.Namespace
	e.FilterKeys = keys(a.JobID, a.DeploymentID, a.NodeID)
	old, _ := change.Old.(*api.Allocation)
	switch {
	case change.Op == state.Delete:
		e.Type = api.EventTypeAllocationDeleted
	case old != nil && old.DesiredStatus != a.DesiredStatus:
		e.Type = api.EventTypeAllocStatusUpdated
	default:
		e.Type = api.EventTypeAllocationUpdated
	}
	shown := a.Copy()
	shown.Job = nil
	e.Payload = map[string]any{e.Topic: shown}
}

func describeNode(e *api.Event, change state.Change, n *api.Node) {
	e.Topic, e.Key = api.TopicNode, n.ID
	old, _ := change.Old.(*api.Node)
	switch {
	case change.Op == state.Delete:
		e.Type = api.EventTypeNodeDeregistered
	case old == nil:
		e.Type = api.EventTypeNodeRegistered
	default:
		e.Type = api.EventTypeNodeStatusUpdated
	}
	e.Payload = map[string]any{e.Topic: withoutSecret(n)}
}

func pick(change state.Change, put, deleted string) string {
	if change.Op == state.Delete {
		return deleted
	}
	return put
}

func keys(values ...string) []string {
	kept := make([]string, 0, len(values))
	for _, v := range values {
		if v != "" {
			kept = append(kept, v)
		}
	}
	return kept
}
