// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Values of Allocation.DesiredStatus, set by the servers.
const (
	AllocDesiredRun   = "run"
	AllocDesiredStop  = "stop"
	AllocDesiredEvict = "evict"
)

// Values of Allocation.ClientStatus, set by the node unless noted.
const (
	AllocClientPending  = "pending"
	AllocClientRunning  = "running"
	AllocClientComplete = "complete"
	AllocClientFailed   = "failed"
	AllocClientLost     = "lost"    // its node is down; set by the servers
	AllocClientUnknown  = "unknown" // its node is disconnected; set by the servers
)

// An Allocation is one attempt to run an instance of a group on a node.
type Allocation struct {
	ID                    string
	Namespace             string
	EvalID                string
	Name                  string // job.group[index]
	NodeID                string
	NodeName              string
	JobID                 string
	Job                   *Job       // job version of the allocation; shared
	Group                 string     `json:"TaskGroup"`
	Resources             *Resources // total resources; set only in responses, see AllocatedResources
	SharedResources       *Resources `json:",omitempty"` // resources shared by its tasks; set only in responses
	TaskResources         map[string]*Resources
	AllocatedResources    *AllocatedResources
	Metrics               *PlacementMetrics
	DesiredStatus         string // one of the AllocDesired constants
	DesiredDescription    string
	DesiredTransition     DesiredTransition
	ClientStatus          string // one of the AllocClient constants
	ClientDescription     string
	TaskStates            map[string]*TaskState
	DeploymentID          string
	DeploymentStatus      *AllocDeploymentStatus
	FollowupEvalID        string // id of the evaluation that will replace it
	PreviousAllocation    string
	NextAllocation        string
	RescheduleTracker     *RescheduleTracker
	Recovery              string `json:",omitempty"` // how it recovers PreviousAllocation: one of the Recovery constants; "": as the group's disk says
	NetworkStatus         *AllocNetworkStatus
	Launches              *Launches     `json:",omitempty"` // nil: every task runs from the start
	LaunchStatus          *LaunchStatus `json:",omitempty"` // set by the node
	Serving               *Serving      `json:",omitempty"` // set by the node
	Crashes               *Crashes      `json:",omitempty"`
	Images                []*ImagePin   `json:",omitempty"` // pins of its tasks' images; set only in responses
	Orphan                bool          `json:",omitempty"` // reports whether it was found on its node without a registered job
	DesiredReason         Reason        `json:",omitempty"` // code of DesiredDescription
	PreemptedAllocations  []string
	PreemptedByAllocation string
	CreateIndex           uint64
	ModifyIndex           uint64 // index of the last change
	AllocModifyIndex      uint64 // index of the last change by the servers
	CreateTime            int64  // Unix nanoseconds
	ModifyTime            int64
}

// AllocName returns the name of a group's instance.
func AllocName(job, group string, index int) string {
	return job + "." + group + "[" + strconv.Itoa(index) + "]"
}

// Index returns the index of the instance in its group, parsed from the allocation's name,
// or -1 if the name has none.
func (a *Allocation) Index() int {
	open := strings.LastIndexByte(a.Name, '[')
	if open < 0 || !strings.HasSuffix(a.Name, "]") {
		return -1
	}
	n, err := strconv.Atoi(a.Name[open+1 : len(a.Name)-1])
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// JobKey returns the key of the allocation's job.
func (a *Allocation) JobKey() NamespacedID { return NamespacedID{a.Namespace, a.JobID} }

// JobVersion returns the job version of the allocation.
func (a *Allocation) JobVersion() uint64 {
	if a.Job == nil {
		return 0
	}
	return a.Job.Version
}

// IsClientTerminal reports whether, as far as known, no task of the allocation runs any
// more.
func (a *Allocation) IsClientTerminal() bool {
	switch a.ClientStatus {
	case AllocClientComplete, AllocClientFailed, AllocClientLost:
		return true
	}
	return false
}

// IsServerTerminal reports whether the servers want the allocation to stop.
func (a *Allocation) IsServerTerminal() bool { return a.DesiredStatus != AllocDesiredRun }

// IsTerminal reports whether the allocation is to stop or has ended.
func (a *Allocation) IsTerminal() bool { return a.IsServerTerminal() || a.IsClientTerminal() }

// HoldsResources reports whether the allocation still holds resources on its node. A
// stopping allocation holds them until its node reports its end.
func (a *Allocation) HoldsResources() bool { return !a.IsClientTerminal() }

// IsStarting reports whether the allocation is to run but its node has not started it yet.
// The scheduler's configuration may limit such allocations per node.
func (a *Allocation) IsStarting() bool {
	return a.ClientStatus == AllocClientPending && a.DesiredStatus == AllocDesiredRun
}

// IsHealthy reports whether its deployment health is known and good.
func (a *Allocation) IsHealthy() bool {
	return a.DeploymentStatus != nil && a.DeploymentStatus.Healthy != nil && *a.DeploymentStatus.Healthy
}

// IsUnhealthy reports whether its deployment health is known and bad.
func (a *Allocation) IsUnhealthy() bool {
	return a.DeploymentStatus != nil && a.DeploymentStatus.Healthy != nil && !*a.DeploymentStatus.Healthy
}

// IsCanary reports whether the allocation was placed as a canary.
func (a *Allocation) IsCanary() bool {
	return a.DeploymentStatus != nil && a.DeploymentStatus.Canary
}

// IsSystem reports whether the allocation belongs to a job that runs on every feasible
// node.
func (a *Allocation) IsSystem() bool {
	return a.Job != nil && (a.Job.Type == JobTypeSystem || a.Job.Type == JobTypeSysBatch)
}

// Copy returns a shallow copy: its fields may be set, but the values that they point to
// are shared.
func (a *Allocation) Copy() *Allocation {
	c := *a
	return &c
}

// A DesiredTransition is an action on an allocation that an operator or controller
// requests. The next evaluation carries it out.
type DesiredTransition struct {
	Migrate                 *bool
	Reschedule              *bool
	ForceReschedule         *bool
	NoShutdownDelay         *bool
	MigrateDisablePlacement *bool
}

// ShouldMigrate reports whether the allocation is to be moved or replaced.
func (d DesiredTransition) ShouldMigrate() bool { return d.Migrate != nil && *d.Migrate }

// AllocDeploymentStatus is an allocation's part in its deployment.
type AllocDeploymentStatus struct {
	Healthy     *bool
	Timestamp   time.Time
	Canary      bool
	ModifyIndex uint64
}

// AllocNetworkStatus describes an allocation's own network.
type AllocNetworkStatus struct {
	InterfaceName string
	Address       string
	AddressIPv6   string
	DNS           *DNS
}

// RescheduleTracker is the history of attempts that led to an allocation.
type RescheduleTracker struct {
	Events         []*RescheduleEvent
	LastReschedule string
	Rejections     int   `json:",omitempty"` // number of attempts that nodes rejected
	Since          int64 `json:",omitempty"` // start of the current series of failures; Unix nanoseconds
}

// RescheduleEvent is one replacement of a failed allocation.
type RescheduleEvent struct {
	RescheduleTime int64 // Unix nanoseconds
	PrevAllocID    string
	PrevNodeID     string
	Delay          time.Duration `json:",omitempty"`
	Rejected       string        `json:",omitempty"` // reason why the node rejected the allocation; such an attempt does not count in the policy
}

// Task states.
const (
	TaskStatePending = "pending"
	TaskStateRunning = "running"
	TaskStateDead    = "dead"
)

// TaskState is the state of one task of an allocation.
type TaskState struct {
	State       string // one of the TaskState constants
	Failed      bool
	Restarts    uint64
	LastRestart time.Time
	StartedAt   time.Time
	FinishedAt  time.Time
	Launch      string       `json:",omitempty"` // token of the run that the state describes
	Events      []*TaskEvent // oldest first; at most TaskEventsKept
	Result      string       `json:",omitempty"` // content of Task.ResultFile after its last run
	// Templates are those of the task, in its order; nil before the first rendering.
	Templates []*TemplateState `json:",omitempty"`
	// Waiting is what the task waits for before it starts, templates apart; "" if for nothing.
	Waiting string `json:",omitempty"`
}

// IsSuccessful reports whether the task ended and did not fail.
func (s *TaskState) IsSuccessful() bool { return s.State == TaskStateDead && !s.Failed }

// TaskEventsKept is the number of events kept per task.
const TaskEventsKept = 10

// Details of a driver's event about a pull that is under way.
const (
	DetailBytesDone  = "bytes_done"
	DetailBytesTotal = "bytes_total"
)

// Types of task events.
const (
	EventReceived         = "Received"
	EventTaskSetup        = "Task Setup"
	EventSetupFailure     = "Setup Failure"
	EventDownloading      = "Downloading Artifacts"
	EventDownloadFailed   = "Failed Artifact Download"
	EventFailedValidation = "Failed Validation"
	EventDriverFailure    = "Driver Failure"
	EventDriverMessage    = "Driver"
	EventTemplate         = "Template"
	EventStarted          = "Started"
	EventRestored         = "Restored" // found again after the agent restarted
	EventTerminated       = "Terminated"
	EventKilling          = "Killing"
	EventKilled           = "Killed"
	EventRestarting       = "Restarting"
	EventNotRestarting    = "Not Restarting"
	EventRestartSignaled  = "Restart Signaled"
	EventSignaling        = "Signaling"
	EventLeaderDead       = "Leader Task Dead"
	EventMainDead         = "Main Tasks Dead"
	EventSiblingFailed    = "Sibling Task Failed"
	EventDiskExceeded     = "Disk Resources Exceeded"
	EventCheckUnhealthy   = "Unhealthy" // a liveness check failed too often
	EventAllocUnhealthy   = "Alloc Unhealthy"
	EventLost             = "Lost" // its supervisor died, and the process with it
	EventNotLaunched      = "Not Launched"
	EventLaunched         = "Launched"
	EventWarming          = "Warming"
	EventWarmed           = "Warmed Up"
	EventHeld             = "Held" // on hold until its launch changes
)

// A TaskEvent is one event of a task. DisplayMessage describes it in words.
type TaskEvent struct {
	Type             string
	Time             int64 // Unix nanoseconds
	DisplayMessage   string
	Details          EventDetails
	Message          string
	FailsTask        bool
	RestartReason    string
	SetupError       string
	DriverError      string
	DriverMessage    string
	ExitCode         int
	Signal           int
	KillReason       string
	KillTimeout      time.Duration
	KillError        string
	StartDelay       int64 // nanoseconds
	DownloadError    string
	ValidationError  string
	DiskLimit        int64
	FailedSibling    string
	VaultError       string
	TaskSignalReason string
	TaskSignal       string
	GenericSource    string
}

// AllocationListStub is an allocation in list responses.
type AllocationListStub struct {
	ID                    string
	EvalID                string
	Name                  string
	Namespace             string
	NodeID                string
	NodeName              string
	JobID                 string
	JobType               string
	JobVersion            uint64
	TaskGroup             string
	AllocatedResources    *AllocatedResources `json:",omitempty"`
	DesiredStatus         string
	DesiredReason         Reason `json:",omitempty"`
	DesiredDescription    string
	DesiredTransition     DesiredTransition
	ClientStatus          string
	ClientDescription     string
	TaskStates            map[string]*TaskState
	DeploymentStatus      *AllocDeploymentStatus
	Crashes               *Crashes `json:",omitempty"`
	FollowupEvalID        string
	NextAllocation        string
	RescheduleTracker     *RescheduleTracker
	PreemptedAllocations  []string
	PreemptedByAllocation string
	CreateIndex           uint64
	ModifyIndex           uint64
	CreateTime            int64
	ModifyTime            int64
}

// Stub returns the allocation for list responses.
func (a *Allocation) Stub() *AllocationListStub {
	s := &AllocationListStub{
		ID: a.ID, EvalID: a.EvalID, Name: a.Name, Namespace: a.Namespace,
		NodeID: a.NodeID, NodeName: a.NodeName, JobID: a.JobID, TaskGroup: a.Group,
		DesiredStatus: a.DesiredStatus, DesiredReason: a.DesiredReason, DesiredDescription: a.DesiredDescription,
		DesiredTransition: a.DesiredTransition, ClientStatus: a.ClientStatus, ClientDescription: a.ClientDescription,
		TaskStates: a.TaskStates, DeploymentStatus: a.DeploymentStatus, Crashes: a.Crashes,
		FollowupEvalID: a.FollowupEvalID, NextAllocation: a.NextAllocation,
		RescheduleTracker:    a.RescheduleTracker,
		PreemptedAllocations: a.PreemptedAllocations, PreemptedByAllocation: a.PreemptedByAllocation,
		CreateIndex: a.CreateIndex, ModifyIndex: a.ModifyIndex,
		CreateTime: a.CreateTime, ModifyTime: a.ModifyTime,
	}
	if a.Job != nil {
		s.JobType, s.JobVersion = a.Job.Type, a.Job.Version
	}
	return s
}

// String returns a readable name of the allocation.
func (a *Allocation) String() string { return fmt.Sprintf("%s (%s)", ShortID(a.ID), a.Name) }

// ShortID returns the short form of an id, which people read and type.
func ShortID(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}
