// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"slices"
	"time"
)

// Statuses of a job restart.
const (
	RestartRunning   = "running"
	RestartPaused    = "paused"
	RestartComplete  = "complete"
	RestartCancelled = "cancelled"
	RestartFailed    = "failed"
)

// Values of JobRestart.OnError: the reaction to more than MaxUnhealthy allocations that
// did not become healthy again.
const (
	RestartOnErrorFail     = "fail"     // the restart fails
	RestartOnErrorPause    = "pause"    // it pauses until an operator resumes it
	RestartOnErrorContinue = "continue" // it continues
)

// A JobRestart is a rolling restart of a job's allocations in place.
type JobRestart struct {
	ID        string
	Namespace string
	JobID     string

	BatchSize    int           // number of allocations restarted at the same time, at least 1
	BatchWait    time.Duration // delay after a batch completes
	Groups       []string      `json:",omitempty"` // groups to restart; none: all
	Tasks        []string      `json:",omitempty"` // tasks to restart; none: all running tasks
	HealthGate   bool          `json:",omitempty"` // reports whether a batch completes when it is healthy, not when it runs
	MaxUnhealthy int           `json:",omitempty"` // number of allocations that may stay unhealthy before OnError applies
	OnError      string        `json:",omitempty"` // one of the RestartOnError constants
	// Templates reports whether it restarts only tasks with a newer rendering of a template (change_mode = "rolling").
	Templates bool `json:",omitempty"`
	// Declined identifies the values that were pending when an operator cancelled it: they start no other restart.
	Declined []string `json:",omitempty"`

	Status            string // one of the Restart constants
	StatusReason      Reason `json:",omitempty"` // code of StatusDescription
	StatusDescription string
	RestartedAllocs   []string  // ids of the restarted allocations, in order
	UnhealthyAllocs   []string  `json:",omitempty"` // ids of those that did not become healthy
	NextBatch         time.Time `json:",omitzero"`  // earliest start of the next batch, because of BatchWait

	JobVersion     uint64
	JobCreateIndex uint64
	By             string `json:",omitempty"` // operator who started it
	Reason         string `json:",omitempty"`

	StartedAt   time.Time
	UpdatedAt   time.Time
	CreateIndex uint64
	ModifyIndex uint64
}

// JobKey returns the key of the restart's job.
func (r *JobRestart) JobKey() NamespacedID { return NamespacedID{r.Namespace, r.JobID} }

// IsActive reports whether the restart has not ended.
func (r *JobRestart) IsActive() bool { return r.Status == RestartRunning || r.Status == RestartPaused }

// Copy returns a copy whose fields may be set.
func (r *JobRestart) Copy() *JobRestart {
	c := *r
	c.RestartedAllocs = slices.Clone(r.RestartedAllocs) // an empty list stays non-nil
	c.UnhealthyAllocs = slices.Clone(r.UnhealthyAllocs)
	c.Declined = slices.Clone(r.Declined)
	return &c
}

// JobRestartRequest starts a restart. Its fields are those of a JobRestart.
type JobRestartRequest struct {
	BatchSize    int           // default: 1
	BatchWait    time.Duration // nanoseconds
	Groups       []string      `json:",omitempty"`
	Tasks        []string      `json:",omitempty"`
	HealthGate   bool          `json:",omitempty"`
	MaxUnhealthy int           `json:",omitempty"`
	OnError      string        `json:",omitempty"` // default: pause
	By           string        `json:",omitempty"`
	Reason       string        `json:",omitempty"`
}

// JobRestartVerbRequest is the optional body of pause, resume and cancel.
type JobRestartVerbRequest struct {
	By     string `json:",omitempty"`
	Reason string `json:",omitempty"`
}
