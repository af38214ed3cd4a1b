// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// What the servers want of an allocation.
const (
	AllocDesiredRun   = "run"
	AllocDesiredStop  = "stop"
	AllocDesiredEvict = "evict"
)

// What an allocation's node says of it.
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
	Job                   *Job       // the version it was made from; shared
	Group                 string     `json:"TaskGroup"`
	Resources             *Resources // what it holds in all, when it is shown; AllocatedResources says more
	SharedResources       *Resources `json:",omitempty"` // what its tasks hold together, when it is shown
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
	FollowupEvalID        string // the evaluation that will replace it
	PreviousAllocation    string
	NextAllocation        string
	RescheduleTracker     *RescheduleTracker
	Recovery              string `json:",omitempty"` // how it takes over from PreviousAllocation: one of the Recovery constants; "": as the group's disk says
	NetworkStatus         *AllocNetworkStatus
	Launches              *Launches     `json:",omitempty"` // nil: every task runs from the beginning
	LaunchStatus          *LaunchStatus `json:",omitempty"` // by the node
	Serving               *Serving      `json:",omitempty"` // by the node
	Crashes               *Crashes      `json:",omitempty"`
	Orphan                bool          `json:",omitempty"` // it was found on its node; no registered job is known to want it
	PreemptedAllocations  []string
	PreemptedByAllocation string
	CreateIndex           uint64
	ModifyIndex           uint64 // last change of any kind
	AllocModifyIndex      uint64 // last change by the servers
	CreateTime            int64  // Unix nanoseconds
	ModifyTime            int64
}

// AllocName is the name of a group's instance.
func AllocName(job, group string, index int) string {
	return job + "." + group + "[" + strconv.Itoa(index) + "]"
}

// Index is which of its group's instances the allocation is, read from its
// name; -1 when the name has none.
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

// JobKey names the allocation's job.
func (a *Allocation) JobKey() NamespacedID { return NamespacedID{a.Namespace, a.JobID} }

// JobVersion is the version of the job it was made from.
func (a *Allocation) JobVersion() uint64 {
	if a.Job == nil {
		return 0
	}
	return a.Job.Version
}

// IsClientTerminal reports whether nothing of the allocation runs any more, as
// far as is known.
func (a *Allocation) IsClientTerminal() bool {
	switch a.ClientStatus {
	case AllocClientComplete, AllocClientFailed, AllocClientLost:
		return true
	}
	return false
}

// IsServerTerminal reports whether the servers want it to stop.
func (a *Allocation) IsServerTerminal() bool { return a.DesiredStatus != AllocDesiredRun }

// IsTerminal reports whether the allocation is to stop or has ended.
func (a *Allocation) IsTerminal() bool { return a.IsServerTerminal() || a.IsClientTerminal() }

// HoldsResources reports whether the allocation still takes up room on its
// node: it may have been told to stop, but its node has not said that it has.
func (a *Allocation) HoldsResources() bool { return !a.IsClientTerminal() }

// IsStarting reports whether the allocation is to run and its node has not
// started it yet: so many at once may be bounded.
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

// IsCanary reports whether it was placed as a canary.
func (a *Allocation) IsCanary() bool {
	return a.DeploymentStatus != nil && a.DeploymentStatus.Canary
}

// IsSystem reports whether it is of a job that runs on every node that suits.
func (a *Allocation) IsSystem() bool {
	return a.Job != nil && (a.Job.Type == JobTypeSystem || a.Job.Type == JobTypeSysBatch)
}

// Copy returns a copy whose own fields may be set; what they point to is
// shared.
func (a *Allocation) Copy() *Allocation {
	c := *a
	return &c
}

// DesiredTransition is what an operator or controller asks of an allocation.
// It is acted upon by the next evaluation.
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

// AllocNetworkStatus is an allocation's own network.
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
	Rejections     int   `json:",omitempty"` // attempts that their nodes refused to run
	Since          int64 `json:",omitempty"` // when the instance began to fail that has been failing since; Unix nanoseconds
}

// RescheduleEvent is one replacement of a failed allocation.
type RescheduleEvent struct {
	RescheduleTime int64 // Unix nanoseconds
	PrevAllocID    string
	PrevNodeID     string
	Delay          time.Duration `json:",omitempty"`
	Rejected       string        `json:",omitempty"` // why its node refused to run it: no attempt of the policy's
}

// Task states.
const (
	TaskStatePending = "pending"
	TaskStateRunning = "running"
	TaskStateDead    = "dead"
)

// TaskState is how one task of an allocation is.
type TaskState struct {
	State       string // one of the TaskState constants
	Failed      bool
	Restarts    uint64
	LastRestart time.Time
	StartedAt   time.Time
	FinishedAt  time.Time
	Launch      string       `json:",omitempty"` // token of the run that this is about
	Events      []*TaskEvent // oldest first; the last TaskEventsKept
	Result      string       `json:",omitempty"` // what its last run left in Task.ResultFile
}

// IsSuccessful reports whether the task ended and did not fail.
func (s *TaskState) IsSuccessful() bool { return s.State == TaskStateDead && !s.Failed }

// TaskEventsKept is how many events of a task are kept.
const TaskEventsKept = 10

// Types of task events.
const (
	EventReceived         = "Received"
	EventTaskSetup        = "Task Setup"
	EventSetupFailure     = "Setup Failure"
	EventFailedValidation = "Failed Validation"
	EventDriverFailure    = "Driver Failure"
	EventDriverMessage    = "Driver"
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
	EventLost             = "Lost" // its supervisor is gone, and the process with it
	EventNotLaunched      = "Not Launched"
	EventLaunched         = "Launched"
	EventHeld             = "Held" // it is not to run until this changes
)

// A TaskEvent is one thing that happened to a task, told in words in
// DisplayMessage.
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

// AllocationListStub is an allocation as lists show it.
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

// Stub returns the allocation as lists show it.
func (a *Allocation) Stub() *AllocationListStub {
	s := &AllocationListStub{
		ID: a.ID, EvalID: a.EvalID, Name: a.Name, Namespace: a.Namespace,
		NodeID: a.NodeID, NodeName: a.NodeName, JobID: a.JobID, TaskGroup: a.Group,
		DesiredStatus: a.DesiredStatus, DesiredDescription: a.DesiredDescription,
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

// String names the allocation for people.
func (a *Allocation) String() string { return fmt.Sprintf("%s (%s)", ShortID(a.ID), a.Name) }

// ShortID is the part of an id that people read and type.
func ShortID(id string) string {
	if len(id) > 8 {
		return id[:8]
	}
	return id
}
