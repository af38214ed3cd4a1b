// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// JobCallback has somebody told when the job is over: a POST with the job's
// Completion as JSON, repeated until it is answered.
type JobCallback struct {
	URL string // http or https
	// Headers are sent as they are: a token of the receiver's, perhaps.
	Headers map[string]string `json:",omitempty"`
	// Secret signs the body, if there is one: see CallbackSignatureHeader.
	Secret string `json:",omitempty"`
	// GiveUpAfter is how long it is tried, DefaultCallbackGiveUpAfter if unset.
	GiveUpAfter *time.Duration `json:",omitempty"`
}

// Headers of the request.
const (
	// CallbackIDHeader names the callback: the same for each attempt, another one
	// for everything else.
	CallbackIDHeader = "Reeve-Callback-Id"
	// CallbackAttemptHeader counts the attempts, from 1 on.
	CallbackAttemptHeader = "Reeve-Callback-Attempt"
	// CallbackSignatureHeader is "sha256=" and the hexadecimal HMAC-SHA256 of the
	// body with the secret.
	CallbackSignatureHeader = "Reeve-Callback-Signature"
)

// Bounds and defaults of callbacks.
const (
	DefaultCallbackGiveUpAfter = 24 * time.Hour
	MaxCallbackGiveUpAfter     = 30 * 24 * time.Hour
	// MaxCallbackResults bounds the results of tasks in one callback, in bytes:
	// those that come after are left out.
	MaxCallbackResults = 256 << 10
)

// Statuses of callbacks.
const (
	CallbackPending   = "pending"
	CallbackDelivered = "delivered"
	CallbackRefused   = "refused"  // the receiver said that it does not want it: it is not repeated
	CallbackGivenUp   = "given up" // nobody took it in time
)

// A Callback is one completion of a job that somebody is told of, and how far
// that is.
type Callback struct {
	ID             string // in CallbackIDHeader
	Namespace      string
	JobID          string
	JobVersion     uint64
	JobCreateIndex uint64

	Target     *JobCallback `json:",omitempty"` // as the job had it then; shown without headers and secret
	Completion *Completion

	Status      string    // one of the Callback constants
	Attempts    int       // that were made
	LastAttempt time.Time `json:",omitzero"`
	LastAnswer  string    `json:",omitempty"` // what came of that, in words
	NextAttempt time.Time `json:",omitzero"`  // if it is pending
	GiveUpAt    time.Time
	CreatedAt   time.Time
	EndedAt     time.Time `json:",omitzero"`

	// Newest and Failed say what it is about: the newest allocation's CreateIndex,
	// and the time at which the job failed for good. A job that is over without
	// anything newer is not told of again.
	Newest uint64
	Failed int64 `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// IsPending reports whether it is still to be delivered.
func (c *Callback) IsPending() bool { return c.Status == CallbackPending }

// Tells reports whether the callback, or one that came after it, told already
// what another one of the same job is about.
func (c *Callback) Tells(other *Callback) bool {
	return c.JobCreateIndex == other.JobCreateIndex && c.Newest >= other.Newest && c.Failed >= other.Failed
}

// Shown is the callback without what only the receiver may know.
func (c *Callback) Shown() *Callback {
	shown := *c
	if t := c.Target; t != nil {
		shown.Target = &JobCallback{URL: t.URL, GiveUpAfter: t.GiveUpAfter}
	}
	return &shown
}

// How a job ended.
const (
	CompletionComplete  = "complete"  // every instance did what it is for
	CompletionFailed    = "failed"    // at least one did not
	CompletionCancelled = "cancelled" // somebody stopped the job before
)

// A Completion is what became of a job that is over: the body of its callback.
type Completion struct {
	ID            string // the callback's, the same for each attempt
	Namespace     string
	JobID         string
	ParentID      string `json:",omitempty"` // of a job that was dispatched, or started by its schedule
	JobVersion    uint64
	Meta          map[string]string `json:",omitempty"` // the job's, with what it was dispatched with
	Annotation    string            `json:",omitempty"`
	State         string            // one of the Completion constants
	Failed        bool
	FailureReason string    `json:",omitempty"` // in words: of what failed first
	Rejections    int       `json:",omitempty"` // how often nodes refused to run what failed, or ran at last
	SubmittedAt   time.Time `json:",omitzero"`
	StartedAt     time.Time `json:",omitzero"` // of the first task
	EndedAt       time.Time `json:",omitzero"` // of the last one
	Tasks         []*CompletedTask
	// ResultsLeftOut counts the results that did not fit: they are in the
	// allocations.
	ResultsLeftOut int `json:",omitempty"`
}

// A CompletedTask is what became of a task in the last allocation of its
// instance. One that never was placed has no Allocation and no Task.
type CompletedTask struct {
	Instance      string // group-index
	Group         string
	Index         int
	Task          string    `json:",omitempty"`
	Allocation    string    `json:",omitempty"`
	NodeID        string    `json:",omitempty"`
	NodeName      string    `json:",omitempty"`
	Failed        bool      // it, or its instance as a whole
	FailureReason string    `json:",omitempty"`
	ExitCode      *int      `json:",omitempty"` // of its last run
	Restarts      uint64    `json:",omitempty"`
	Result        string    `json:",omitempty"` // what it left in its result_file
	StartedAt     time.Time `json:",omitzero"`
	FinishedAt    time.Time `json:",omitzero"`
}

// JobFailure is why a job has failed for good: nothing of it is started any more.
type JobFailure struct {
	Reason string
	Time   int64 // Unix nanoseconds
}
