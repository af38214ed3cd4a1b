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

// Values of JobRestart.OnError: what happens when more than MaxUnhealthy
// allocations did not come back well.
const (
	RestartOnErrorFail     = "fail"     // the restart ends as failed
	RestartOnErrorPause    = "pause"    // it pauses until somebody resumes it
	RestartOnErrorContinue = "continue" // it goes on
)

// A JobRestart is a rolling restart of a job's allocations, in place.
type JobRestart struct {
	ID        string
	Namespace string
	JobID     string

	BatchSize    int           // allocations restarted at once, at least 1
	BatchWait    time.Duration // between a batch's completion and the next one
	Groups       []string      `json:",omitempty"` // only those of these; none: all
	Tasks        []string      `json:",omitempty"` // only these; none: all that run
	HealthGate   bool          `json:",omitempty"` // a batch is complete when it is healthy, not as soon as it runs
	MaxUnhealthy int           `json:",omitempty"` // allocations that may come back badly before OnError
	OnError      string        `json:",omitempty"` // one of the RestartOnError constants

	Status            string // one of the Restart constants
	StatusDescription string
	RestartedAllocs   []string  // ids of those told to restart, in that order
	UnhealthyAllocs   []string  `json:",omitempty"` // ids of those that came back badly
	NextBatch         time.Time `json:",omitzero"`  // not before, because of BatchWait

	JobVersion     uint64
	JobCreateIndex uint64
	By             string `json:",omitempty"` // who started it
	Reason         string `json:",omitempty"`

	StartedAt   time.Time
	UpdatedAt   time.Time
	CreateIndex uint64
	ModifyIndex uint64
}

// JobKey names the restart's job.
func (r *JobRestart) JobKey() NamespacedID { return NamespacedID{r.Namespace, r.JobID} }

// IsActive reports whether the restart has not ended.
func (r *JobRestart) IsActive() bool { return r.Status == RestartRunning || r.Status == RestartPaused }

// Copy returns a copy whose fields may be set.
func (r *JobRestart) Copy() *JobRestart {
	c := *r
	c.RestartedAllocs = slices.Clone(r.RestartedAllocs) // listed even if empty
	c.UnhealthyAllocs = slices.Clone(r.UnhealthyAllocs)
	return &c
}

// JobRestartRequest starts a restart. Fields are named as the object's.
type JobRestartRequest struct {
	BatchSize    int           // 1 when 0
	BatchWait    time.Duration // nanoseconds
	Groups       []string      `json:",omitempty"`
	Tasks        []string      `json:",omitempty"`
	HealthGate   bool          `json:",omitempty"`
	MaxUnhealthy int           `json:",omitempty"`
	OnError      string        `json:",omitempty"` // pause when empty
	By           string        `json:",omitempty"`
	Reason       string        `json:",omitempty"`
}

// JobRestartVerbRequest is the optional body of pause, resume and cancel.
type JobRestartVerbRequest struct {
	By     string `json:",omitempty"`
	Reason string `json:",omitempty"`
}
