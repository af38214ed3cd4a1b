// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// dirtyJob is a job whose status may have changed, and by which command.
type dirtyJob struct {
	slot  uint32
	cause string
}

// markDirty has the job's status derived when the entry is done.
func (t *txn) markDirty(slot uint32) {
	if n := len(t.dirty); n > 0 && t.dirty[n-1].slot == slot {
		return
	}
	t.dirty = append(t.dirty, dirtyJob{slot, t.cause})
}

// deriveJob stores the job's status if it is no longer what it was, and has
// somebody told if it is over.
func (t *txn) deriveJob(slot uint32) {
	r := t.jobs.rows.at(slot)
	if r == nil || *r == nil || (*r).job == nil {
		return
	}
	row := *r
	if status := row.status(); status != row.job.Status {
		job := *row.job
		job.Status = status
		job.ModifyIndex = t.index
		t.replaceJob(slot, &job)
	}
	t.conclude(slot)
}

// replaceJob stores a job that differs in derived fields only. If the entry
// changed the job before, readers of the feed see one change, not two.
func (t *txn) replaceJob(slot uint32, job *api.Job) {
	row := t.editJobAt(slot)
	old := row.job
	row.job = job
	t.replaceVersion(row, job)
	t.countChild(old, -1)
	t.countChild(job, +1)
	t.touch(TableJobs)
	if row.change > 0 {
		t.changes[row.change-1].New = job
		return
	}
	t.emit(TableJobs, Put, old, job)
	row.change = len(t.changes)
}

// status is what the job's evaluations and allocations make of it.
func (r *jobRow) status() string {
	switch {
	case r.job.IsPeriodic() || r.job.IsParameterized():
		if r.job.Stop {
			return api.JobStatusDead
		}
		return api.JobStatusRunning
	case r.live > 0:
		return api.JobStatusRunning
	case r.open > 0:
		return api.JobStatusPending
	case r.job.Held:
		return api.JobStatusRunning // an operator has it go on
	case r.job.Stop:
		return api.JobStatusDead
	case r.job.Type == api.JobTypeSystem:
		return api.JobStatusRunning // goes on waiting for nodes
	case r.evaluations.len()+r.allocations.len() == 0:
		return api.JobStatusPending // nobody has looked at it yet
	}
	return api.JobStatusDead
}
