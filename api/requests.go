// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// RegisterJobRequest requests that a job run as written.
type RegisterJobRequest struct {
	Submission        *JobSubmission
	Job               *Job
	EnforceIndex      bool // reject unless JobModifyIndex is the stored one (0: the job must be new)
	JobModifyIndex    uint64
	NoRestart         bool // reject changes that would restart or replace a running instance
	PreserveCounts    bool // keep the stored groups' counts
	PreserveResources bool // keep the stored tasks' resources
	PolicyOverride    bool
	EvalPriority      int
	Region            string
	Namespace         string
	SecretID          string
}

// RegisterJobResponse is the result of a registration. EvalID is empty for a periodic or
// parameterized job.
type RegisterJobResponse struct {
	EvalID          string
	EvalCreateIndex uint64
	JobModifyIndex  uint64
	Warnings        string
	Index           uint64
}

// DeregisterJobResponse is the result of stopping a job.
type DeregisterJobResponse struct {
	EvalID          string
	EvalCreateIndex uint64
	JobModifyIndex  uint64
	Index           uint64
}

// PlanJobRequest requests a dry run of a registration.
type PlanJobRequest struct {
	Job            *Job
	Diff           bool
	PolicyOverride bool
	Region         string
	Namespace      string
	SecretID       string
}

// PlanJobResponse is the result of a dry run of a registration.
type PlanJobResponse struct {
	JobModifyIndex     uint64
	CreatedEvals       []*Evaluation
	Diff               *JobDiff
	Annotations        *PlanAnnotations
	FailedGroups       map[string]*PlacementMetrics `json:"FailedTGAllocs"`
	NextPeriodicLaunch time.Time
	Warnings           string
	// Nodes holds the number of instances that would start immediately, by group and node
	// name.
	Nodes map[string]map[string]int `json:",omitempty"`
	// Start holds the effects of one start of a periodic or parameterized job, by group.
	// FailedGroups and Nodes then describe such a start; registering the job starts
	// nothing.
	Start map[string]*DesiredUpdates `json:",omitempty"`
	// Plans are the initial plans after the registration.
	Plans []*Plan `json:",omitempty"`
}

// ParseJobRequest requests the conversion of a job file into a job.
type ParseJobRequest struct {
	JobHCL       string
	Variables    string
	Canonicalize bool
}

// ValidateJobRequest requests the validation of a job.
type ValidateJobRequest struct {
	Job       *Job
	Region    string
	Namespace string
	SecretID  string
}

// ValidateJobResponse lists every error in a job.
type ValidateJobResponse struct {
	DriverConfigValidated bool
	ValidationErrors      []string
	Error                 string
	Warnings              string
}

// RevertJobRequest requests that an older version run again, as a new version.
type RevertJobRequest struct {
	JobID               string
	JobVersion          uint64
	EnforcePriorVersion *uint64 // reject unless this is the current version
	Region              string
	Namespace           string
	SecretID            string
}

// ScaleJobRequest sets the count of one group (Target["Group"]).
type ScaleJobRequest struct {
	Count          *int64
	Target         map[string]string
	Message        string
	Error          bool // record the message as a failure; count stays
	Meta           map[string]any
	PolicyOverride bool
	JobModifyIndex uint64
	Region         string
	Namespace      string
	SecretID       string
}

// JobVersionsResponse lists a job's versions, newest first. Diffs[i] is the difference
// between Versions[i] and the next older one.
type JobVersionsResponse struct {
	Versions []*Job
	Diffs    []*JobDiff
	Index    uint64
}

// StopAllocationResponse names the evaluation that will replace the allocation.
type StopAllocationResponse struct {
	EvalID string
	Index  uint64
}

// RestartAllocationRequest restarts one task, or all, in place.
type RestartAllocationRequest struct {
	TaskName string
	AllTasks bool
}

// SignalAllocationRequest sends a signal to one task, or all when Task is "".
type SignalAllocationRequest struct {
	Task   string
	Signal string
}

// DeploymentResponse is the result of an operation on a deployment.
type DeploymentResponse struct {
	EvalID                string
	EvalCreateIndex       uint64
	DeploymentModifyIndex uint64
	RevertedJobVersion    *uint64
	Index                 uint64
}

// RegisterNodeRequest describes a node. Its agent sends it at startup and whenever the
// description changes.
type RegisterNodeRequest struct {
	Node *Node
}

// NodeHeartbeatResponse answers registrations and heartbeats.
type NodeHeartbeatResponse struct {
	HeartbeatTTL time.Duration // time within which the next heartbeat is due
	Status       string        // status of the node in the servers' state; initializing: offer orphans first
	ClusterID    string        `json:",omitempty"` // stable during the life of the servers' state
	Index        uint64
}

// NodeAllocations is one message of a node's stream of allocations. The first message is
// complete. Later messages hold changes and removals.
type NodeAllocations struct {
	Complete    bool              // reports whether the message holds all of the node's allocations in the servers' state
	Jobs        []*Job            `json:",omitempty"` // every version used by Allocations, once each
	Allocations []*NodeAllocation `json:",omitempty"` // allocations to run or to stop; without Job and Metrics
	Removed     []string          `json:",omitempty"` // ids of allocations that the servers collected
	Index       uint64
	ClusterID   string `json:",omitempty"` // cluster of the allocations
	Timeline    string `json:",omitempty"` // timeline of Index, if it changed
	Rewound     bool   `json:",omitempty"` // reports whether the servers' history lacks the node's last position: unknown allocations were then not removed
	// HasVolumes reports whether Volumes holds all dynamic volumes of the node.
	HasVolumes bool          `json:",omitempty"`
	Volumes    []*HostVolume `json:",omitempty"`
	// HasPrefetches reports whether Prefetches holds all images that the node is to pull ahead.
	HasPrefetches bool        `json:",omitempty"`
	Prefetches    []*Prefetch `json:",omitempty"`
}

// A NodeAllocation is an allocation that is sent separately from its job.
type NodeAllocation struct {
	*Allocation
	JobVersion     uint64
	JobCreateIndex uint64 `json:",omitempty"`
}

// OfferOrphansRequest holds allocations that run on a node but are unknown to the servers,
// each as the node stored it, with its job.
type OfferOrphansRequest struct {
	Orphans []*OfferedOrphan
}

// An OfferedOrphan is one such allocation.
type OfferedOrphan struct {
	ClusterID  string // cluster of the servers that placed it; "": unknown
	Allocation *Allocation
}

// OfferOrphansResponse is the result of an offer.
type OfferOrphansResponse struct {
	Refused map[string]string `json:",omitempty"` // reasons by id; the servers know all other allocations now
	Index   uint64
}

// UpdateAllocationsRequest is a node's batch of reports on its allocations. The servers
// read only ID and the client's fields: ClientStatus, ClientDescription, TaskStates,
// DeploymentStatus, NetworkStatus, LaunchStatus, Serving, Crashes.
type UpdateAllocationsRequest struct {
	Allocations []*Allocation `json:"Alloc"`
}

// IndexResponse is the answer to writes without other results.
type IndexResponse struct {
	Index uint64
}

// EvaluateJobRequest requests a new evaluation of a job.
type EvaluateJobRequest struct {
	JobID       string
	EvalOptions EvalOptions
	Region      string
	Namespace   string
	SecretID    string
}

// EvalOptions are options of an EvaluateJobRequest.
type EvalOptions struct {
	ForceReschedule bool // replace failed allocations immediately, regardless of their policy
}

// JobStabilityRequest marks a version as suitable for a revert, or not.
type JobStabilityRequest struct {
	JobID      string
	JobVersion uint64
	Stable     bool
	Region     string
	Namespace  string
	SecretID   string
}

// JobStabilityResponse reports the index of the change.
type JobStabilityResponse struct {
	JobModifyIndex uint64
	Index          uint64
}

// DeploymentPauseRequest pauses or resumes a deployment.
type DeploymentPauseRequest struct {
	DeploymentID string
	Pause        bool
	By           string `json:",omitempty"` // author and reason, stored with the decision
	Reason       string `json:",omitempty"`
	Region       string
	Namespace    string
	SecretID     string
}

// DeploymentFailRequest marks a deployment as failed.
type DeploymentFailRequest struct {
	DeploymentID string
	Region       string
	Namespace    string
	SecretID     string
}

// DeploymentPromoteRequest promotes the canaries of all or of the named groups: they
// replace the old instances.
type DeploymentPromoteRequest struct {
	DeploymentID string
	All          bool
	Groups       []string
	PromotedAt   int64 // ignored: the server sets the time
	Region       string
	Namespace    string
	SecretID     string
}

// DeploymentAllocationHealthRequest sets the health of a deployment's allocations whose
// health is not determined by checks.
type DeploymentAllocationHealthRequest struct {
	DeploymentID           string
	HealthyAllocationIDs   []string
	UnhealthyAllocationIDs []string
	Region                 string
	Namespace              string
	SecretID               string
}

// DeploymentUnblockRequest lets a deployment that waits for other regions end.
type DeploymentUnblockRequest struct {
	DeploymentID string
	Region       string
	Namespace    string
	SecretID     string
}

// NodeEligibilityRequest sets whether new allocations may be placed on a node.
type NodeEligibilityRequest struct {
	NodeID      string
	Eligibility string // NodeEligible or NodeIneligible
	Region      string
	Namespace   string
	SecretID    string
}

// NodeEligibilityResponse reports the index of the change.
type NodeEligibilityResponse struct {
	NodeModifyIndex uint64
	EvalIDs         []string
	EvalCreateIndex uint64
	Index           uint64
}

// EvaluationDeleteRequest identifies evaluations to delete: by id, or by a filter
// expression.
type EvaluationDeleteRequest struct {
	EvalIDs []string `json:",omitempty"`
	Filter  string   `json:",omitempty"`
}

// EvaluationDeleteResponse holds the number of deleted evaluations.
type EvaluationDeleteResponse struct {
	Count int
}

// EvaluationUnblockResponse names the evaluation that is retried.
type EvaluationUnblockResponse struct {
	EvalID string
	Index  uint64
}

// EvaluationCount is the number of evaluations that a list would contain.
type EvaluationCount struct {
	Count int
}
