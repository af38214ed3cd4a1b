// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import "time"

// A JobCallback configures a notification about the end of a job: a POST with the job's
// Completion as JSON. The server repeats it until the receiver answers.
type JobCallback struct {
	URL string // http or https
	// Headers are sent unchanged, for example a token of the receiver.
	Headers map[string]string `json:",omitempty"`
	// Secret, if set, signs the body: see CallbackSignatureHeader.
	Secret string `json:",omitempty"`
	// GiveUpAfter is the time after which the server gives up, DefaultCallbackGiveUpAfter
	// if unset.
	GiveUpAfter *time.Duration `json:",omitempty"`
}

// Headers of the request.
const (
	// CallbackIDHeader holds the id of the callback: the same for each attempt, unique
	// otherwise.
	CallbackIDHeader = "Reeve-Callback-Id"
	// CallbackAttemptHeader holds the number of the attempt, from 1.
	CallbackAttemptHeader = "Reeve-Callback-Attempt"
	// CallbackSignatureHeader holds "sha256=" and the hexadecimal HMAC-SHA256 of the body
	// with the secret.
	CallbackSignatureHeader = "Reeve-Callback-Signature"
)

// Bounds and defaults of callbacks.
const (
	DefaultCallbackGiveUpAfter = 24 * time.Hour
	MaxCallbackGiveUpAfter     = 30 * 24 * time.Hour
	// MaxCallbackResults is the maximum total size of task results in one callback, in
	// bytes. Further results are left out.
	MaxCallbackResults = 256 << 10
)

// Statuses of callbacks.
const (
	CallbackPending   = "pending"
	CallbackDelivered = "delivered"
	CallbackRefused   = "refused"  // the receiver rejected it; it is not repeated
	CallbackGivenUp   = "given up" // no receiver accepted it in time
)

// A Callback is a notification about one completion of a job, with the state of its
// delivery.
type Callback struct {
	ID             string // value of CallbackIDHeader
	Namespace      string
	JobID          string
	JobVersion     uint64
	JobCreateIndex uint64

	Target     *JobCallback `json:",omitempty"` // the job's configuration at its end; shown without headers and secret
	Completion *Completion

	Status      string    // one of the Callback constants
	Attempts    int       // number of attempts made
	LastAttempt time.Time `json:",omitzero"`
	LastAnswer  string    `json:",omitempty"` // result of the last attempt, in words
	NextAttempt time.Time `json:",omitzero"`  // set while it is pending
	GiveUpAt    time.Time
	CreatedAt   time.Time
	EndedAt     time.Time `json:",omitzero"`

	// Newest and Failed identify the end that the callback reports: the CreateIndex of the
	// newest allocation, and the time of the job's permanent failure. A finished job
	// without newer values is not reported again.
	Newest uint64
	Failed int64 `json:",omitempty"`

	CreateIndex uint64
	ModifyIndex uint64
}

// IsPending reports whether the callback is still to be delivered.
func (c *Callback) IsPending() bool { return c.Status == CallbackPending }

// Tells reports whether the callback, or a later one of the same job, already reported
// what other reports.
func (c *Callback) Tells(other *Callback) bool {
	return c.JobCreateIndex == other.JobCreateIndex && c.Newest >= other.Newest && c.Failed >= other.Failed
}

// Shown returns the callback without secrets of the receiver.
func (c *Callback) Shown() *Callback {
	shown := *c
	if t := c.Target; t != nil {
		shown.Target = &JobCallback{URL: t.URL, GiveUpAfter: t.GiveUpAfter}
	}
	return &shown
}

// Outcomes of a job.
const (
	CompletionComplete  = "complete"  // every instance finished its work
	CompletionFailed    = "failed"    // at least one instance did not
	CompletionCancelled = "cancelled" // the job was stopped early
)

// A Completion is the outcome of a finished job: the body of its callback.
type Completion struct {
	ID            string // id of the callback, the same for each attempt
	Namespace     string
	JobID         string
	ParentID      string `json:",omitempty"` // parent of a dispatched or periodically started job
	JobVersion    uint64
	Meta          map[string]string `json:",omitempty"` // metadata of the job, including that of its dispatch
	Annotation    string            `json:",omitempty"`
	State         string            // one of the Completion constants
	Failed        bool
	FailureReason string    `json:",omitempty"` // reason of the first failure, in words
	Rejections    int       `json:",omitempty"` // number of times that nodes rejected the failed instance, or the one that ran in the end
	SubmittedAt   time.Time `json:",omitzero"`
	StartedAt     time.Time `json:",omitzero"` // start of the first task
	EndedAt       time.Time `json:",omitzero"` // end of the last task
	Tasks         []*CompletedTask
	// ResultsLeftOut is the number of results that did not fit. They are available in the
	// allocations.
	ResultsLeftOut int `json:",omitempty"`
}

// A CompletedTask is the outcome of a task in the last allocation of its instance. For an
// instance that was never placed, Allocation and Task are empty.
type CompletedTask struct {
	Instance      string // group-index
	Group         string
	Index         int
	Task          string    `json:",omitempty"`
	Allocation    string    `json:",omitempty"`
	NodeID        string    `json:",omitempty"`
	NodeName      string    `json:",omitempty"`
	Failed        bool      // reports whether the task, or its instance as a whole, failed
	FailureReason string    `json:",omitempty"`
	ExitCode      *int      `json:",omitempty"` // exit code of its last run
	Restarts      uint64    `json:",omitempty"`
	Result        string    `json:",omitempty"` // content of its result_file
	StartedAt     time.Time `json:",omitzero"`
	FinishedAt    time.Time `json:",omitzero"`
}

// JobFailure describes the permanent failure of a job, after which no instance starts.
type JobFailure struct {
	Reason string
	Time   int64 // Unix nanoseconds
}
