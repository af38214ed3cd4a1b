// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// Evaluation statuses.
const (
	EvalStatusPending  = "pending"
	EvalStatusComplete = "complete"
	EvalStatusFailed   = "failed"
	EvalStatusBlocked  = "blocked" // waits for a change that could help
	EvalStatusCanceled = "canceled"
)

// Triggers of evaluations.
const (
	TriggerJobRegister          = "job-register"
	TriggerJobDeregister        = "job-deregister"
	TriggerJobScale             = "job-scaling"
	TriggerPeriodicJob          = "periodic-job"
	TriggerJobDispatch          = "job-dispatch"
	TriggerNodeUpdate           = "node-update"
	TriggerNodeDrain            = "node-drain"
	TriggerAllocFailure         = "alloc-failure"
	TriggerAllocStop            = "alloc-stop"
	TriggerAllocReconnect       = "reconnect"
	TriggerMaxDisconnect        = "max-disconnect-timeout" // a silent node has exceeded its grace period
	TriggerReschedule           = "alloc-reschedule"       // a failed allocation's next attempt is due
	TriggerDeploymentWatcher    = "deployment-watcher"
	TriggerRestart              = "restart"
	TriggerPlanOperation        = "plan-operation"
	TriggerQueuedAllocs         = "queued-allocs" // instances that could not be placed wait in a blocked evaluation
	TriggerMaxPlacementAttempts = "max-plan-attempts"
	TriggerPreemption           = "preemption"
	TriggerFailedFollowUp       = "failed-follow-up"
	TriggerScheduled            = "scheduled"
	TriggerDomainFresh          = "domain-fresh"
	TriggerLifecycle            = "lifecycle"
)

// An Evaluation records that something changed for a job, so that the difference between
// the intended and the running instances must be computed again.
type Evaluation struct {
	ID                   string
	Priority             int
	Type                 string // the job's type
	TriggeredBy          string // one of the Trigger constants
	Namespace            string
	JobID                string
	JobModifyIndex       uint64
	NodeID               string
	NodeModifyIndex      uint64
	DeploymentID         string
	Status               string // one of the EvalStatus constants
	StatusReason         Reason `json:",omitempty"` // code of StatusDescription
	StatusDescription    string
	Wait                 time.Duration
	WaitUntil            time.Time // not delivered to a worker before
	NextEval             string
	PreviousEval         string
	BlockedEval          string                       // id of the evaluation that waits to place the remaining instances
	RelatedEvals         []*EvaluationStub            `json:",omitempty"`
	FailedGroups         map[string]*PlacementMetrics `json:"FailedTGAllocs"` // reasons by group
	Annotations          *PlanAnnotations             `json:"PlanAnnotations"`
	ClassEligibility     map[string]bool              // of a blocked evaluation: whether a node class could help
	EscapedComputedClass bool                         // of a blocked evaluation: whether any node could help
	QuotaLimitReached    string
	AnnotatePlan         bool
	QueuedAllocations    map[string]int // number of unplaced instances by group
	Held                 string         `json:",omitempty"` // what the job needs from an operator, in words
	SnapshotIndex        uint64         // index of the evaluated snapshot
	CreateIndex          uint64
	ModifyIndex          uint64
	CreateTime           int64 // Unix nanoseconds
	ModifyTime           int64
}

// JobKey returns the key of the evaluation's job.
func (e *Evaluation) JobKey() NamespacedID { return NamespacedID{e.Namespace, e.JobID} }

// IsTerminal reports whether the evaluation will never change again.
func (e *Evaluation) IsTerminal() bool {
	switch e.Status {
	case EvalStatusComplete, EvalStatusFailed, EvalStatusCanceled:
		return true
	}
	return false
}

// Copy returns a shallow copy: its fields may be set, maps are shared.
func (e *Evaluation) Copy() *Evaluation {
	c := *e
	return &c
}

// EvaluationStub is an evaluation in lists of related evaluations.
type EvaluationStub struct {
	ID                string
	Priority          int
	Type              string
	TriggeredBy       string
	Namespace         string
	JobID             string
	NodeID            string
	DeploymentID      string
	Status            string
	StatusReason      Reason `json:",omitempty"`
	StatusDescription string
	WaitUntil         time.Time
	NextEval          string
	PreviousEval      string
	BlockedEval       string
	CreateIndex       uint64
	ModifyIndex       uint64
	CreateTime        int64
	ModifyTime        int64
}

// Stub returns the evaluation for lists of related evaluations.
func (e *Evaluation) Stub() *EvaluationStub {
	return &EvaluationStub{
		ID: e.ID, Priority: e.Priority, Type: e.Type, TriggeredBy: e.TriggeredBy,
		Namespace: e.Namespace, JobID: e.JobID, NodeID: e.NodeID, DeploymentID: e.DeploymentID,
		Status: e.Status, StatusReason: e.StatusReason, StatusDescription: e.StatusDescription, WaitUntil: e.WaitUntil,
		NextEval: e.NextEval, PreviousEval: e.PreviousEval, BlockedEval: e.BlockedEval,
		CreateIndex: e.CreateIndex, ModifyIndex: e.ModifyIndex,
		CreateTime: e.CreateTime, ModifyTime: e.ModifyTime,
	}
}

// PlacementMetrics explains one group's placement: the number of nodes evaluated, and the
// reasons that excluded infeasible nodes.
type PlacementMetrics struct {
	NodesEvaluated     int
	NodesFiltered      int // nodes excluded by constraints, drivers and the like
	NodesInPool        int
	NodePool           string
	NodesAvailable     map[string]int // by datacenter
	ClassFiltered      map[string]int
	ConstraintFiltered map[string]int // by the constraint in words
	NodesExhausted     int            // feasible nodes without room
	ClassExhausted     map[string]int
	DimensionExhausted map[string]int // by "cpu", "memory", "disk", "network: ..."
	QuotaExhausted     []string
	ResourcesExhausted map[string]*Resources // requested resources by task
	Scores             map[string]float64
	AllocationTime     time.Duration
	CoalescedFailures  int // further instances with the same failure
	ScoreMetaData      []*NodeScore
}

// NodeScore is the score of one node, by scorer.
type NodeScore struct {
	NodeID    string
	Scores    map[string]float64
	NormScore float64
}

// PlanAnnotations holds the effects that a dry run predicts.
type PlanAnnotations struct {
	DesiredUpdates  map[string]*DesiredUpdates `json:"DesiredTGUpdates"` // by group
	PreemptedAllocs []*AllocationListStub
}

// DesiredUpdates counts an evaluation's changes to one group's instances.
type DesiredUpdates struct {
	Ignore            uint64
	Place             uint64
	Migrate           uint64
	Stop              uint64
	InPlaceUpdate     uint64
	DestructiveUpdate uint64
	Canary            uint64
	Preemptions       uint64
	Disconnect        uint64
	Reconnect         uint64
	RescheduleNow     uint64
	RescheduleLater   uint64
}
