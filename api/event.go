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
	TopicPlan       = "Plan"     // what operators decided
	TopicRestart    = "Restart"  // of jobs
	TopicCallback   = "Callback" // whom ends of jobs are told
	TopicDomain     = "Domain"
	TopicInstance   = "Instance" // derived: what an instance is, of each allocation that holds one
	TopicService    = "Service"  // derived: what services are offered, by routable allocations only
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
	EventTypeCallbackUpdated    = "CallbackStatusUpdate"
	EventTypeCallbackDeleted    = "CallbackDeleted"
	EventTypeDomainFresh        = "DomainFresh"
	EventTypeDomainStale        = "DomainStale" // ended before its time; that its time is over is no event
	EventTypeInstanceCreated    = "InstanceCreated"
	EventTypeInstanceChanged    = "InstanceChanged"
	EventTypeInstanceCrashed    = "InstanceCrashed" // what became of it then is told beside it
	EventTypeInstanceRemoved    = "InstanceRemoved"
	EventTypeServiceAdded       = "ServiceRegistration" // new or changed
	EventTypeServiceRemoved     = "ServiceDeregistration"

	// EventTypeSnapshot is what the type of an event of a snapshot ends in, after
	// its topic: the object as it is, though it did not change.
	EventTypeSnapshot = "Snapshot"
)

// An Event is one change of one object.
type Event struct {
	Topic      string
	Type       string
	Key        string // the object's id
	Namespace  string
	FilterKeys []string       // other keys a subscriber may have named
	Index      uint64         // log index of the change; the total order
	Deleted    bool           `json:",omitempty"` // the object is gone; the payload is what it last was
	Payload    map[string]any // topic -> object
}

// EventBatch is one message of the stream: all events of one log index, a piece
// of a snapshot, or what the reader missed. One with neither is a sign of life.
type EventBatch struct {
	Index    uint64       `json:",omitempty"` // all that was asked for is told up to here; of a snapshot: what it is of
	Snapshot string       `json:",omitempty"` // one of the Snapshot constants; "": what changed
	Missed   *EventMissed `json:",omitempty"`
	Events   []*Event     `json:",omitempty"`
}

// The pieces of a snapshot.
const (
	SnapshotBegin = "begin" // whatever the reader knew is to be forgotten
	SnapshotPart  = "part"
	SnapshotEnd   = "end" // what comes next are the changes after its index
)

// EventMissed says that what happened at some indexes is not told: the reader
// came back too late or took too little.
type EventMissed struct {
	From, To uint64 // both included
}
