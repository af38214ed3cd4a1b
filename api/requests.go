// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// RegisterJobRequest asks for a job to run as written.
type RegisterJobRequest struct {
	Submission        *JobSubmission
	Job               *Job
	EnforceIndex      bool // refuse unless JobModifyIndex is the stored one (0: the job must be new)
	JobModifyIndex    uint64
	NoRestart         bool // refuse what would restart or replace something that runs
	PreserveCounts    bool // keep the stored groups' counts
	PreserveResources bool // keep the stored tasks' resources
	PolicyOverride    bool
	EvalPriority      int
	Region            string
	Namespace         string
	SecretID          string
}

// RegisterJobResponse says what registering wrote. EvalID is empty for a
// periodic or parameterized job.
type RegisterJobResponse struct {
	EvalID          string
	EvalCreateIndex uint64
	JobModifyIndex  uint64
	Warnings        string
	Index           uint64
}

// DeregisterJobResponse says what stopping a job wrote.
type DeregisterJobResponse struct {
	EvalID          string
	EvalCreateIndex uint64
	JobModifyIndex  uint64
	Index           uint64
}

// PlanJobRequest asks what registering a job would do.
type PlanJobRequest struct {
	Job            *Job
	Diff           bool
	PolicyOverride bool
	Region         string
	Namespace      string
	SecretID       string
}

// PlanJobResponse is what registering a job would do.
type PlanJobResponse struct {
	JobModifyIndex     uint64
	CreatedEvals       []*Evaluation
	Diff               *JobDiff
	Annotations        *PlanAnnotations
	FailedGroups       map[string]*PlacementMetrics `json:"FailedTGAllocs"`
	NextPeriodicLaunch time.Time
	Warnings           string
	// Nodes is where instances would be started, as far as that can be done at
	// once: how many by group and node name.
	Nodes map[string]map[string]int `json:",omitempty"`
	// Start is what one start of a periodic or parameterized job would do, by
	// group. FailedGroups and Nodes are of such a start then; registering the job
	// starts nothing.
	Start map[string]*DesiredUpdates `json:",omitempty"`
	// Plans are the trees that would be worked on, as they would be at first.
	Plans []*Plan `json:",omitempty"`
}

// ParseJobRequest asks the server to turn a job file into a job.
type ParseJobRequest struct {
	JobHCL       string
	Variables    string
	Canonicalize bool
}

// ValidateJobRequest asks whether a job is well formed.
type ValidateJobRequest struct {
	Job       *Job
	Region    string
	Namespace string
	SecretID  string
}

// ValidateJobResponse lists everything that is wrong with a job.
type ValidateJobResponse struct {
	DriverConfigValidated bool
	ValidationErrors      []string
	Error                 string
	Warnings              string
}

// RevertJobRequest asks for an older version to run again, as a new version.
type RevertJobRequest struct {
	JobID               string
	JobVersion          uint64
	EnforcePriorVersion *uint64 // refuse unless this is the current version
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

// JobVersionsResponse lists a job's versions, newest first; Diffs[i] is
// between Versions[i] and the next older one.
type JobVersionsResponse struct {
	Versions []*Job
	Diffs    []*JobDiff
	Index    uint64
}

// StopAllocationResponse names the evaluation that will replace it.
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

// DeploymentResponse says what an operation on a deployment wrote.
type DeploymentResponse struct {
	EvalID                string
	EvalCreateIndex       uint64
	DeploymentModifyIndex uint64
	RevertedJobVersion    *uint64
	Index                 uint64
}

// RegisterNodeRequest is what an agent says of its node when it starts, and
// whenever what it has changes.
type RegisterNodeRequest struct {
	Node *Node
}

// NodeHeartbeatResponse answers registering and heartbeats.
type NodeHeartbeatResponse struct {
	HeartbeatTTL time.Duration // the next heartbeat is due within
	Status       string        // what the servers hold of the node; initializing: it has to offer its orphans first
	ClusterID    string        `json:",omitempty"` // for as long as the servers' state lives
	Index        uint64
}

// NodeAllocations is one message of a node's stream of allocations. The first
// one is complete; later ones hold what changed and what is to be forgotten.
type NodeAllocations struct {
	Complete    bool              // these are all that the servers know of for the node
	Jobs        []*Job            `json:",omitempty"` // every version that Allocations name, once each
	Allocations []*NodeAllocation `json:",omitempty"` // to run or to stop; without Job and Metrics
	Removed     []string          `json:",omitempty"` // ids that the servers collected
	Index       uint64
	ClusterID   string `json:",omitempty"` // whose allocations these are
	Timeline    string `json:",omitempty"` // that Index is of, when it is another one than before
	Rewound     bool   `json:",omitempty"` // the servers' history does not have the position up to which the node was told: what they do not know is not what they removed
}

// NodeAllocation is an allocation that travels apart from its job.
type NodeAllocation struct {
	*Allocation
	JobVersion     uint64
	JobCreateIndex uint64 `json:",omitempty"`
}

// OfferOrphansRequest holds allocations that run on a node although the servers
// do not know them, each as the node keeps it, with its job.
type OfferOrphansRequest struct {
	Orphans []*OfferedOrphan
}

// OfferedOrphan is one of them.
type OfferedOrphan struct {
	ClusterID  string // of the servers that placed it; "": not known
	Allocation *Allocation
}

// OfferOrphansResponse says what became of them.
type OfferOrphansResponse struct {
	Refused map[string]string `json:",omitempty"` // why, by id; all others are known to the servers now
	Index   uint64
}

// UpdateAllocationsRequest is a batch of what a node says of its allocations.
// Only ID and the client's fields are read: ClientStatus, ClientDescription,
// TaskStates, DeploymentStatus, NetworkStatus, LaunchStatus, Serving, Crashes.
type UpdateAllocationsRequest struct {
	Allocations []*Allocation `json:"Alloc"`
}

// IndexResponse is the answer of writes that return nothing else.
type IndexResponse struct {
	Index uint64
}

// EvaluateJobRequest asks for a job to be looked at again.
type EvaluateJobRequest struct {
	JobID       string
	EvalOptions EvalOptions
	Region      string
	Namespace   string
	SecretID    string
}

// EvalOptions refine an EvaluateJobRequest.
type EvalOptions struct {
	ForceReschedule bool // failed allocations are replaced now, whatever their policy says
}

// JobStabilityRequest marks a version as one to revert to, or not.
type JobStabilityRequest struct {
	JobID      string
	JobVersion uint64
	Stable     bool
	Region     string
	Namespace  string
	SecretID   string
}

// JobStabilityResponse says when the mark was written.
type JobStabilityResponse struct {
	JobModifyIndex uint64
	Index          uint64
}

// DeploymentPauseRequest pauses a deployment or lets it go on.
type DeploymentPauseRequest struct {
	DeploymentID string
	Pause        bool
	By           string `json:",omitempty"` // who says so, and why: kept with the decision
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

// DeploymentPromoteRequest has canaries take the places of what they stand
// beside: of all groups, or of those named.
type DeploymentPromoteRequest struct {
	DeploymentID string
	All          bool
	Groups       []string
	PromotedAt   int64 // not read: the server knows the time
	Region       string
	Namespace    string
	SecretID     string
}

// DeploymentAllocationHealthRequest says how allocations of a deployment are
// whose health is not judged by checks.
type DeploymentAllocationHealthRequest struct {
	DeploymentID           string
	HealthyAllocationIDs   []string
	UnhealthyAllocationIDs []string
	Region                 string
	Namespace              string
	SecretID               string
}

// DeploymentUnblockRequest lets a deployment end that waits for other regions.
type DeploymentUnblockRequest struct {
	DeploymentID string
	Region       string
	Namespace    string
	SecretID     string
}

// NodeEligibilityRequest says whether new allocations may be placed on a node.
type NodeEligibilityRequest struct {
	NodeID      string
	Eligibility string // NodeEligible or NodeIneligible
	Region      string
	Namespace   string
	SecretID    string
}

// NodeEligibilityResponse says when that was written.
type NodeEligibilityResponse struct {
	NodeModifyIndex uint64
	EvalIDs         []string
	EvalCreateIndex uint64
	Index           uint64
}

// EvaluationDeleteRequest names evaluations to forget: by id, or all that match
// a filter expression.
type EvaluationDeleteRequest struct {
	EvalIDs []string `json:",omitempty"`
	Filter  string   `json:",omitempty"`
}

// EvaluationDeleteResponse says how many evaluations were forgotten.
type EvaluationDeleteResponse struct {
	Count int
}

// EvaluationUnblockResponse names the evaluation that is tried again.
type EvaluationUnblockResponse struct {
	EvalID string
	Index  uint64
}

// EvaluationCount is how many evaluations a list would hold.
type EvaluationCount struct {
	Count int
}
