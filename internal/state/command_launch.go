// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"

	"github.com/reeve-run/reeve/api"
)

// LaunchJob starts a child of a periodic or parameterized job. It stores the child and its
// evaluation together. A child is a copy of its parent at that moment. The log contains
// only the differences, and in memory both share their common parts.
type LaunchJob struct {
	Namespace   string
	ParentID    string
	ParentIndex uint64 // reject unless this is the parent's JobModifyIndex
	ID          string // id of the child
	Time        int64  // Unix nanoseconds

	// Of periodic jobs.

	Due       int64 // Unix nanoseconds; 0: started on request
	Skip      bool  // record Due as skipped without a launch
	Exclusive bool  // reject while a child has not ended

	// Of parameterized jobs.

	Meta             map[string]string
	Payload          []byte
	IdempotencyToken string
	Priority         int // 0: the parent's

	Evaluation *api.Evaluation // nil: none
}

// Name implements Command.
func (c *LaunchJob) Name() string { return "LaunchJob" }

func (c *LaunchJob) apply(t *txn) error {
	parent := t.Job(c.Namespace, c.ParentID)
	if parent == nil {
		return t.JobNotFound(c.Namespace, c.ParentID)
	}
	_, row := t.editJob(c.Namespace, c.ParentID)
	switch {
	case parent.JobModifyIndex != c.ParentIndex:
		return api.Errorf(api.CodeConflict, "job %q was changed meanwhile: try again", c.ParentID)
	case !parent.IsPeriodic() && !parent.IsParameterized():
		return api.Errorf(api.CodeInvalid, "job %q is neither periodic nor parameterized: it starts no others", c.ParentID)
	case parent.Stop:
		return api.Errorf(api.CodeConflict, "job %q is stopped", c.ParentID)
	case c.Exclusive && row.children[childPending]+row.children[childRunning] > 0:
		return api.Errorf(api.CodeConflict, "a job that %q started earlier has not ended", c.ParentID)
	case c.Due != 0 && row.schedule != nil && c.Due <= row.schedule.Last:
		return api.Errorf(api.CodeConflict, "job %q was started for that time already", c.ParentID)
	case c.Due == 0 && t.Job(c.Namespace, c.ID) != nil:
		return api.Errorf(api.CodeConflict, "job %q exists already", c.ID)
	case c.IdempotencyToken != "" && t.DispatchedFrom(parent, c.IdempotencyToken) != nil:
		return api.Errorf(api.CodeConflict, "job %q was dispatched with that idempotency token already", c.ParentID)
	}
	if c.Due != 0 {
		t.noteDue(row, c)
	}
	// A child that was started on request in the second of the due time counts for both.
	if c.Skip || t.Job(c.Namespace, c.ID) != nil {
		return nil
	}
	child := c.child(parent)
	child.CreateIndex, child.ModifyIndex, child.JobModifyIndex = t.index, t.index, t.index
	t.putJob(child, true, nil)
	t.putJobEvaluation(c.Evaluation, t.index)
	return nil
}

// noteDue records that a due time was launched or skipped.
func (t *txn) noteDue(row *jobRow, c *LaunchJob) {
	s := schedule{}
	if row.schedule != nil {
		s = *row.schedule
	}
	s.Last = c.Due
	if c.Skip {
		s.Skipped = c.Due
	}
	row.schedule = &s
	row.summarized = t.index
	t.touch(TableJobs)
}

// child returns the child to start.
func (c *LaunchJob) child(parent *api.Job) *api.Job {
	j := *parent
	j.ID, j.Name, j.ParentID = c.ID, c.ID, parent.ID
	j.Status, j.StatusDescription, j.Stable, j.Version, j.VersionTag = api.JobStatusPending, "", false, 0, nil
	j.SubmitTime, j.Held, j.HeldReason = c.Time, false, ""
	if c.Priority != 0 {
		j.Priority = c.Priority
	}
	if j.Periodic != nil {
		j.Periodic = nil
		return &j
	}
	j.Dispatched, j.Payload, j.DispatchIdempotencyToken = true, c.Payload, c.IdempotencyToken
	if len(c.Meta) > 0 {
		meta := make(map[string]string, len(parent.Meta)+len(c.Meta))
		maps.Copy(meta, parent.Meta)
		maps.Copy(meta, c.Meta)
		j.Meta = meta
	}
	return &j
}

// A schedule holds the launch times of a periodic job, in Unix nanoseconds.
type schedule struct {
	Since   int64 // time at which the schedule took effect
	Last    int64 // latest due time that was launched or skipped
	Skipped int64 // latest due time that was skipped because of an overlap
}

// reschedule sets the time from which a periodic job's due times count: the registration
// of its current schedule.
func (r *jobRow) reschedule(old, job *api.Job) {
	if job.Periodic == nil || job.Stop {
		r.schedule = nil
		return
	}
	if old != nil && !old.Stop && r.schedule != nil && api.PeriodicEqual(old.Periodic, job.Periodic) {
		return
	}
	s := schedule{Since: job.SubmitTime}
	if r.schedule != nil {
		s.Last, s.Skipped = r.schedule.Last, r.schedule.Skipped
	}
	r.schedule = &s
}
