// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// Topics of the event stream.
const (
	TopicAll        = "*"
	TopicJob        = "Job"
	TopicEvaluation = "Evaluation"
	TopicAllocation = "Allocation"
	TopicDeployment = "Deployment"
	TopicNode       = "Node"
	TopicNodePool   = "NodePool"
	TopicPlan       = "Plan"    // what operators decided
	TopicRestart    = "Restart" // of jobs
	TopicDomain     = "Domain"
)

// Types of events.
const (
	EventTypeJobRegistered      = "JobRegistered"
	EventTypeJobDeregistered    = "JobDeregistered"
	EventTypeJobStatusUpdated   = "JobStatusUpdated" // derived from its allocations
	EventTypeEvaluationUpdated  = "EvaluationUpdated"
	EventTypeAllocationUpdated  = "AllocationUpdated" // by the servers
	EventTypeAllocStatusUpdated = "AllocationUpdateDesiredStatus"
	EventTypeDeploymentUpdated  = "DeploymentStatusUpdate"
	EventTypeNodeRegistered     = "NodeRegistration"
	EventTypeNodeDeregistered   = "NodeDeregistration"
	EventTypeNodeStatusUpdated  = "NodeEvent"
	EventTypeNodePoolUpserted   = "NodePoolUpserted"
	EventTypeNodePoolDeleted    = "NodePoolDeleted"
	EventTypeEvaluationDeleted  = "EvaluationDeleted"
	EventTypeAllocationDeleted  = "AllocationDeleted"
	EventTypeDeploymentDeleted  = "DeploymentDeleted"
	EventTypePlanDecided        = "PlanDecided"
	EventTypePlanForgotten      = "PlanDecisionDeleted"
	EventTypeRestartUpdated     = "RestartStatusUpdate"
	EventTypeRestartDeleted     = "RestartDeleted"
	EventTypeDomainFresh        = "DomainFresh"
	EventTypeDomainStale        = "DomainStale" // ended before its time; that its time is over is no event
)

// An Event is one change of one object.
type Event struct {
	Topic      string
	Type       string
	Key        string // the object's id
	Namespace  string
	FilterKeys []string       // other keys a subscriber may have named
	Index      uint64         // log index of the change; the total order
	Payload    map[string]any // topic -> object
}

// EventBatch is all events of one log index: one line of the stream. An empty
// batch is a heartbeat.
type EventBatch struct {
	Index  uint64   `json:",omitempty"`
	Events []*Event `json:",omitempty"`
}
