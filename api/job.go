// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// DefaultNamespace is the namespace of a job that names none.
const DefaultNamespace = "default"

// Names of the built-in node pools: every node is in NodePoolAll.
const (
	NodePoolDefault = "default"
	NodePoolAll     = "all"
)

// Job types. They determine the number of instances and the meaning of an exit.
const (
	JobTypeService  = "service"  // runs until stopped; an exit is a failure to restart
	JobTypeBatch    = "batch"    // runs to completion; exit 0 is success
	JobTypeSystem   = "system"   // one instance on every feasible node, until stopped
	JobTypeSysBatch = "sysbatch" // one instance on every feasible node, to completion
)

// Job statuses, derived from a job's evaluations and allocations.
const (
	JobStatusPending = "pending"
	JobStatusRunning = "running"
	JobStatusDead    = "dead"
)

// Bounds and defaults of a job's priority.
const (
	JobPriorityMin     = 1
	JobPriorityDefault = 50
	JobPriorityMax     = 100
)

// JobTrackedVersions is the number of past versions kept per job. Tagged versions are kept
// in addition.
const JobTrackedVersions = 6

// MaxAnnotation is the maximum size of a job's annotation, in bytes.
const MaxAnnotation = 10 << 10

// A Job describes the workload to run: groups of tasks and the policies for placing,
// updating and recovering them. Every accepted change creates a new, immutable version: 0,
// 1, 2...
type Job struct {
	// Written by the user.

	Region          string
	Namespace       string
	ID              string
	Name            string
	Type            string // one of the JobType constants
	Priority        int    // 1..100, higher is placed first
	AllAtOnce       bool   // place every instance of an evaluation or none
	Datacenters     []string
	NodePool        string
	Constraints     []*Constraint
	Affinities      []*Affinity
	Groups          []*Group `json:"TaskGroups"`
	Update          *Update
	Multiregion     *Multiregion
	Spreads         []*Spread
	Periodic        *Periodic
	Parameterized   *Parameterized `json:"ParameterizedJob"`
	Reschedule      *Reschedule
	Migrate         *Migrate
	Meta            map[string]string
	UI              *JobUI
	ConsulNamespace string
	VaultNamespace  string
	Plans           []*PlanSpec `json:",omitempty"`
	Domain          string      `json:",omitempty"` // domain whose freshness guards its instances
	Annotation      string      `json:",omitempty"` // data for its owner; at most MaxAnnotation bytes
	Stack           *StackSpec  `json:",omitempty"` // makes the job a unit that is deployed in versions

	// Of batch jobs, written by the user.

	MaxPending    *time.Duration `json:",omitempty"` // time for which an instance may wait for placement before the job fails
	MaxRejections *int           `json:",omitempty"` // times that nodes may reject an instance; default DefaultMaxRejections
	Callback      *JobCallback   `json:",omitempty"` // receiver of the notification about the job's end

	// Written by the server.

	Stop                     bool        // reports whether the user stopped the job
	Purge                    bool        `json:",omitempty"` // reports whether the job is to be deleted once no instance runs
	Failure                  *JobFailure `json:",omitempty"` // set if the job has failed permanently, so that no instance starts
	ParentID                 string      // id of its periodic or parameterized parent
	Dispatched               bool
	DispatchIdempotencyToken string
	Payload                  []byte
	NomadTokenID             string
	Status                   string // one of the JobStatus constants
	StatusDescription        string
	Held                     bool   `json:",omitempty"` // reports whether it waits for an operator to continue, promote or resume
	HeldReason               string `json:",omitempty"` // decision needed from the operator, in words
	Stable                   bool   // reports whether a deployment of this version succeeded
	Version                  uint64
	SubmitTime               int64 // Unix nanoseconds
	CreateIndex              uint64
	ModifyIndex              uint64 // index of the last change
	JobModifyIndex           uint64 // index of the last change by a user, for check-and-set
	VersionTag               *JobVersionTag
}

// A NamespacedID identifies a job within the cluster.
type NamespacedID struct {
	Namespace string
	ID        string
}

// Key returns the job's identifier within the cluster.
func (j *Job) Key() NamespacedID { return NamespacedID{j.Namespace, j.ID} }

// Group returns the group of that name, or nil.
func (j *Job) Group(name string) *Group {
	for _, g := range j.Groups {
		if g.Name == name {
			return g
		}
	}
	return nil
}

// IsPeriodic reports whether the job only starts other jobs on a schedule.
func (j *Job) IsPeriodic() bool { return j.Periodic != nil }

// IsParameterized reports whether the job only runs when it is dispatched.
func (j *Job) IsParameterized() bool { return j.Parameterized != nil && !j.Dispatched }

// RunsOnEveryNode reports whether the job has one instance per feasible node rather than a
// count.
func (j *Job) RunsOnEveryNode() bool {
	return j.Type == JobTypeSystem || j.Type == JobTypeSysBatch
}

// RunsToCompletion reports whether exit 0 of a task means that its work is done.
func (j *Job) RunsToCompletion() bool {
	return j.Type == JobTypeBatch || j.Type == JobTypeSysBatch
}

// A JobVersionTag names one version of a job, which is then kept and can be reverted to by
// name.
type JobVersionTag struct {
	Name        string
	Description string
	TaggedTime  int64 // Unix nanoseconds
}

// JobUI is shown beside the job in the web interface.
type JobUI struct {
	Description string
	Links       []*JobUILink
}

// JobUILink is one link of a JobUI.
type JobUILink struct {
	Label string
	URL   string
}

// Multiregion describes a rollout of one job over several regions. Reeve parses it only to
// reject it by name.
type Multiregion struct {
	Strategy *MultiregionStrategy
	Regions  []*MultiregionRegion
}

// MultiregionStrategy is the order in which regions are rolled out.
type MultiregionStrategy struct {
	MaxParallel *int
	OnFailure   string
}

// MultiregionRegion is one region of a Multiregion.
type MultiregionRegion struct {
	Name        string
	Count       *int
	Datacenters []string
	NodePool    string
	Meta        map[string]string
}

// Periodic starts a copy of the job on a schedule.
type Periodic struct {
	Enabled         *bool
	Spec            string   // one cron expression
	Specs           []string // several
	SpecType        string   // "cron"
	ProhibitOverlap *bool    // skip a start while an earlier child still runs
	TimeZone        string   // IANA name, "UTC" by default
}

// Parameterized makes the job a template that runs only when dispatched.
type Parameterized struct {
	Payload      string // "optional", "required" or "forbidden"
	MetaRequired []string
	MetaOptional []string
}

// A JobSubmission is the source text of a version, kept so that users can see what they
// wrote.
type JobSubmission struct {
	Source        string
	Format        string // "hcl2", "json" or "yaml"
	VariableFlags map[string]string
	Variables     string
}

// JobSummary counts a job's allocations by group and client status.
type JobSummary struct {
	JobID       string
	Namespace   string
	Summary     map[string]GroupSummary
	Children    *JobChildrenSummary
	Launches    *JobLaunches `json:",omitempty"` // launches of a periodic job
	CreateIndex uint64
	ModifyIndex uint64
}

// GroupSummary counts one group's allocations.
type GroupSummary struct {
	Queued   int
	Complete int
	Failed   int
	Running  int
	Starting int
	Lost     int
	Unknown  int
	Crashing int `json:",omitempty"` // of those above: crashed, and not up again
	Failing  int `json:",omitempty"` // of those above: with a failing check
}

// Add adds the numbers of another summary.
func (s *GroupSummary) Add(other *GroupSummary) {
	s.Queued += other.Queued
	s.Complete += other.Complete
	s.Failed += other.Failed
	s.Running += other.Running
	s.Starting += other.Starting
	s.Lost += other.Lost
	s.Unknown += other.Unknown
	s.Crashing += other.Crashing
	s.Failing += other.Failing
}

// Subtract subtracts the numbers of another summary.
func (s *GroupSummary) Subtract(other *GroupSummary) {
	s.Queued -= other.Queued
	s.Complete -= other.Complete
	s.Failed -= other.Failed
	s.Running -= other.Running
	s.Starting -= other.Starting
	s.Lost -= other.Lost
	s.Unknown -= other.Unknown
	s.Crashing -= other.Crashing
	s.Failing -= other.Failing
}

// JobLaunches holds the last due times of a periodic job.
type JobLaunches struct {
	LastDue     time.Time // latest due time that was launched or skipped; zero: none yet
	LastSkipped time.Time // latest due time that was skipped because an earlier child had not ended
}

// JobChildrenSummary counts the children of a periodic or parameterized job.
type JobChildrenSummary struct {
	Pending int64
	Running int64
	Dead    int64
}

// JobListStub is a job in list responses.
type JobListStub struct {
	ID                string
	ParentID          string
	Name              string
	Namespace         string
	Datacenters       []string
	NodePool          string
	Type              string
	Priority          int
	Periodic          bool
	ParameterizedJob  bool
	Stop              bool
	Status            string
	StatusDescription string
	Held              bool   `json:",omitempty"` // as in Job
	HeldReason        string `json:",omitempty"`
	JobSummary        *JobSummary
	CreateIndex       uint64
	ModifyIndex       uint64
	JobModifyIndex    uint64
	SubmitTime        int64
	Version           uint64
	Meta              map[string]string `json:",omitempty"`
}

// Stub returns the job for list responses, with the given summary.
func (j *Job) Stub(summary *JobSummary) *JobListStub {
	return &JobListStub{
		ID: j.ID, ParentID: j.ParentID, Name: j.Name, Namespace: j.Namespace,
		Datacenters: j.Datacenters, NodePool: j.NodePool, Type: j.Type, Priority: j.Priority,
		Periodic: j.IsPeriodic(), ParameterizedJob: j.IsParameterized(), Stop: j.Stop,
		Status: j.Status, StatusDescription: j.StatusDescription,
		Held: j.Held, HeldReason: j.HeldReason, JobSummary: summary,
		CreateIndex: j.CreateIndex, ModifyIndex: j.ModifyIndex, JobModifyIndex: j.JobModifyIndex,
		SubmitTime: j.SubmitTime, Version: j.Version,
	}
}

// ScaleStatus holds the counts of a job's groups for the scale route.
type ScaleStatus struct {
	JobID          string
	Namespace      string
	JobCreateIndex uint64
	JobModifyIndex uint64
	JobStopped     bool
	TaskGroups     map[string]GroupScaleStatus
}

// GroupScaleStatus is one group of a ScaleStatus.
type GroupScaleStatus struct {
	Desired   int
	Placed    int
	Running   int
	Healthy   int
	Unhealthy int
	Events    []ScalingEvent
}

// ScalingEvent records one change of a group's count through the scale route.
type ScalingEvent struct {
	Count         *int64
	PreviousCount int64
	Error         bool
	Message       string
	Meta          map[string]any
	EvalID        *string
	Time          int64 // Unix nanoseconds
	CreateIndex   uint64
}

// Scaling holds the bounds of a group's count, and a policy for an external autoscaler.
type Scaling struct {
	ID          string
	Namespace   string
	Type        string // "horizontal"
	Target      map[string]string
	Min         *int64
	Max         *int64
	Policy      map[string]any
	Enabled     *bool
	CreateIndex uint64
	ModifyIndex uint64
}

// Update configures the rollout of a new version of the job. Unset fields of a group's
// block come from the job's block, then from the defaults.
type Update struct {
	Stagger          *time.Duration
	MaxParallel      *int // instances replaced concurrently; 0 replaces all together without a deployment
	HealthCheck      *string
	MinHealthyTime   *time.Duration
	HealthyDeadline  *time.Duration
	ProgressDeadline *time.Duration // 0: the first unhealthy instance fails the deployment
	Canary           *int
	AutoRevert       *bool
	AutoPromote      *bool
	// MaxParallelPercent replaces MaxParallel by a share of the group's instances, 1 to
	// 100, rounded up.
	MaxParallelPercent *int `json:",omitempty"`
}

// Values of Update.HealthCheck.
const (
	HealthCheckChecks     = "checks"      // tasks run and their checks pass
	HealthCheckTaskStates = "task_states" // tasks run
	HealthCheckManual     = "manual"      // health is reported through the API
)
