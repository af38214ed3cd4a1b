// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import "github.com/reeve-run/reeve/api"

// A dirtyJob is a job whose status may have changed, and the command that changed it.
type dirtyJob struct {
	slot  uint32
	cause string
}

// markDirty schedules the job's status to be derived at the end of the entry.
func (t *txn) markDirty(slot uint32) {
	if n := len(t.dirty); n > 0 && t.dirty[n-1].slot == slot {
		return
	}
	t.dirty = append(t.dirty, dirtyJob{slot, t.cause})
}

// deriveJob stores the job's status if it changed, and creates the job's callback if the
// job has finished.
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

// replaceJob stores a job that differs only in derived fields. If the entry has already
// changed the job, readers of the feed see one change, not two.
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

// status derives the job's status from its evaluations and allocations.
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
		return api.JobStatusRunning // an operator holds the job, which will continue
	case r.job.Stop:
		return api.JobStatusDead
	case r.job.Type == api.JobTypeSystem:
		return api.JobStatusRunning // a system job continues to wait for nodes
	case r.evaluations.len()+r.allocations.len() == 0:
		return api.JobStatusPending // not evaluated yet
	}
	return api.JobStatusDead
}
