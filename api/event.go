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
	TopicPlan       = "Plan"     // operators' decisions
	TopicRestart    = "Restart"  // restarts of jobs
	TopicCallback   = "Callback" // callbacks about the end of jobs
	TopicDomain     = "Domain"
	TopicNamespace  = "Namespace"
	TopicStack      = "Stack"
	TopicUnit       = "Unit"  // rules of units
	TopicShift      = "Shift" // of traffic between stacks
	TopicHostVolume = "HostVolume"
	TopicInstance   = "Instance" // derived: the instance of each allocation that holds one
	TopicService    = "Service"  // derived: services of routable allocations
	TopicStep       = "Step"     // derived: states of plans, phases and steps; not part of TopicAll
)

// Types of events.
const (
	EventTypeJobRegistered      = "JobRegistered"
	EventTypeJobDeregistered    = "JobDeregistered"
	EventTypeJobStatusUpdated   = "JobStatusUpdated" // derived from the job's allocations
	EventTypeEvaluationUpdated  = "EvaluationUpdated"
	EventTypeAllocationUpdated  = "AllocationUpdated" // by the servers
	EventTypeAllocStatusUpdated = "AllocationUpdateDesiredStatus"
	EventTypeDeploymentUpdated  = "DeploymentStatusUpdate"
	EventTypeNodeRegistered     = "NodeRegistration"
	EventTypeNodeDeregistered   = "NodeDeregistration"
	EventTypeNodeStatusUpdated  = "NodeEvent"
	EventTypeNodePoolUpserted   = "NodePoolUpserted"
	EventTypeNodePoolDeleted    = "NodePoolDeleted"
	EventTypeNamespaceUpserted  = "NamespaceUpserted"
	EventTypeNamespaceDeleted   = "NamespaceDeleted"
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
	EventTypeDomainStale        = "DomainStale" // ended early; the regular end is not an event
	EventTypeStackState         = "StackState"  // new status, verdict or expiry
	EventTypeStackForgotten     = "StackForgotten"
	EventTypeVolumeUpserted     = "HostVolumeUpserted"
	EventTypeVolumeDeleted      = "HostVolumeDeleted"
	EventTypeUnitUpserted       = "UnitUpserted"
	EventTypeUnitDeleted        = "UnitDeleted"
	EventTypeShiftStep          = "ShiftStep"
	EventTypeShiftHeld          = "ShiftHeld" // no instance of the newer stack takes requests
	EventTypeShiftWaiting       = "ShiftWaiting"
	EventTypeShiftReversed      = "ShiftReversed"
	EventTypeShiftDone          = "ShiftDone"
	EventTypeInstanceCreated    = "InstanceCreated"
	EventTypeInstanceChanged    = "InstanceChanged"
	EventTypeInstanceCrashed    = "InstanceCrashed" // its outcome follows in other events
	EventTypeInstanceRemoved    = "InstanceRemoved"
	EventTypeServiceAdded       = "ServiceRegistration" // new or changed
	EventTypeServiceRemoved     = "ServiceDeregistration"
	EventTypeStepCreated        = "StepCreated"
	EventTypeStepChanged        = "StepChanged"
	EventTypeStepRemoved        = "StepRemoved"

	// EventTypeSnapshot is the suffix, after the topic, of the type of an event in a
	// snapshot: the current object, without a change.
	EventTypeSnapshot = "Snapshot"
)

// An Event is one change of one object.
type Event struct {
	Topic      string
	Type       string
	Key        string // the object's id
	Namespace  string
	FilterKeys []string       // other keys for which subscribers may filter
	Index      uint64         // log index of the change; the total order
	Deleted    bool           `json:",omitempty"` // reports whether the object was deleted; the payload is its last state
	Payload    map[string]any // topic -> object
}

// An EventBatch is one message of the stream: all events of one log index, a part of a
// snapshot, or the range that the reader missed. A batch with none of these is a
// heartbeat.
type EventBatch struct {
	Index    uint64       `json:",omitempty"` // index up to which everything requested has been sent; for a snapshot: its index
	Snapshot string       `json:",omitempty"` // one of the Snapshot constants; "": changes
	Missed   *EventMissed `json:",omitempty"`
	Events   []*Event     `json:",omitempty"`
}

// The parts of a snapshot.
const (
	SnapshotBegin = "begin" // discard all previous data
	SnapshotPart  = "part"
	SnapshotEnd   = "end" // changes after the snapshot's index follow
)

// EventMissed reports a range of indexes whose events are not sent, because the reader
// reconnected too late or read too slowly.
type EventMissed struct {
	From, To uint64 // both included
}
