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

// What an evaluation was triggered by.
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
	TriggerMaxDisconnect        = "max-disconnect-timeout" // a silent node has been waited for long enough
	TriggerReschedule           = "alloc-reschedule"       // a failed allocation's next attempt is due
	TriggerDeploymentWatcher    = "deployment-watcher"
	TriggerRestart              = "restart"
	TriggerPlanOperation        = "plan-operation"
	TriggerQueuedAllocs         = "queued-allocs" // what could not be placed waits in a blocked one
	TriggerMaxPlacementAttempts = "max-plan-attempts"
	TriggerPreemption           = "preemption"
	TriggerFailedFollowUp       = "failed-follow-up"
	TriggerScheduled            = "scheduled"
	TriggerDomainFresh          = "domain-fresh"
	TriggerLifecycle            = "lifecycle"
)

// An Evaluation is a note that something changed for a job, so the difference
// between what should run and what runs must be worked out again.
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
	StatusDescription    string
	Wait                 time.Duration
	WaitUntil            time.Time // not handed to a worker before
	NextEval             string
	PreviousEval         string
	BlockedEval          string                       // holds what this one could not place
	RelatedEvals         []*EvaluationStub            `json:",omitempty"`
	FailedGroups         map[string]*PlacementMetrics `json:"FailedTGAllocs"` // by group: why not
	Annotations          *PlanAnnotations             `json:"PlanAnnotations"`
	ClassEligibility     map[string]bool              // of a blocked one: by node class, could it help
	EscapedComputedClass bool                         // of a blocked one: any node could help
	QuotaLimitReached    string
	AnnotatePlan         bool
	QueuedAllocations    map[string]int // by group: wanted and not placed
	Held                 string         `json:",omitempty"` // what the job waits for an operator with, in words
	SnapshotIndex        uint64         // state that it was worked out on
	CreateIndex          uint64
	ModifyIndex          uint64
	CreateTime           int64 // Unix nanoseconds
	ModifyTime           int64
}

// JobKey names the evaluation's job.
func (e *Evaluation) JobKey() NamespacedID { return NamespacedID{e.Namespace, e.JobID} }

// IsTerminal reports whether the evaluation will never change again.
func (e *Evaluation) IsTerminal() bool {
	switch e.Status {
	case EvalStatusComplete, EvalStatusFailed, EvalStatusCanceled:
		return true
	}
	return false
}

// Copy returns a copy whose own fields may be set; maps are shared.
func (e *Evaluation) Copy() *Evaluation {
	c := *e
	return &c
}

// EvaluationStub is an evaluation as lists of relatives show it.
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

// Stub returns the evaluation as lists of relatives show it.
func (e *Evaluation) Stub() *EvaluationStub {
	return &EvaluationStub{
		ID: e.ID, Priority: e.Priority, Type: e.Type, TriggeredBy: e.TriggeredBy,
		Namespace: e.Namespace, JobID: e.JobID, NodeID: e.NodeID, DeploymentID: e.DeploymentID,
		Status: e.Status, StatusDescription: e.StatusDescription, WaitUntil: e.WaitUntil,
		NextEval: e.NextEval, PreviousEval: e.PreviousEval, BlockedEval: e.BlockedEval,
		CreateIndex: e.CreateIndex, ModifyIndex: e.ModifyIndex,
		CreateTime: e.CreateTime, ModifyTime: e.ModifyTime,
	}
}

// PlacementMetrics explain one group's placement: how many nodes were looked
// at, and what took out those that were not feasible.
type PlacementMetrics struct {
	NodesEvaluated     int
	NodesFiltered      int // by constraints, drivers and the like
	NodesInPool        int
	NodePool           string
	NodesAvailable     map[string]int // by datacenter
	ClassFiltered      map[string]int
	ConstraintFiltered map[string]int // by the constraint in words
	NodesExhausted     int            // feasible, but full
	ClassExhausted     map[string]int
	DimensionExhausted map[string]int // by "cpu", "memory", "disk", "network: ..."
	QuotaExhausted     []string
	ResourcesExhausted map[string]*Resources // by task: what was asked for
	Scores             map[string]float64
	AllocationTime     time.Duration
	CoalescedFailures  int // further instances that failed alike
	ScoreMetaData      []*NodeScore
}

// NodeScore is how one node was rated, by scorer.
type NodeScore struct {
	NodeID    string
	Scores    map[string]float64
	NormScore float64
}

// PlanAnnotations is what a dry run says would happen.
type PlanAnnotations struct {
	DesiredUpdates  map[string]*DesiredUpdates `json:"DesiredTGUpdates"` // by group
	PreemptedAllocs []*AllocationListStub
}

// DesiredUpdates counts what an evaluation would do to one group's instances.
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
