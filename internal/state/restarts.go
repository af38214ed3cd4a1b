// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/reasons"
)

// A restartRow is a restart. The job's row lists its restarts in order.
type restartRow struct {
	restart *api.JobRestart
	job     uint32
}

// Restart returns the restart of that id; nil if it does not exist.
func (c *content) Restart(id string) *api.JobRestart {
	if r := c.restarts.find(id); r != nil {
		return r.restart
	}
	return nil
}

// Restarts yields all restarts, ordered by id.
func (c *content) Restarts() iter.Seq[*api.JobRestart] { return c.RestartsPrefix("") }

// RestartsPrefix yields the restarts whose id begins with prefix, ordered by id.
func (c *content) RestartsPrefix(prefix string) iter.Seq[*api.JobRestart] {
	return func(yield func(*api.JobRestart) bool) {
		c.restarts.prefix(prefix, func(_ string, r *restartRow) bool { return yield(r.restart) })
	}
}

// RestartsByJob yields a job's restarts, newest first.
func (c *content) RestartsByJob(namespace, id string) iter.Seq[*api.JobRestart] {
	r := c.job(namespace, id)
	if r == nil {
		return none[*api.JobRestart]
	}
	return func(yield func(*api.JobRestart) bool) {
		for _, restart := range slices.Backward(r.restarts) {
			if !yield(restart) {
				return
			}
		}
	}
}

// LatestRestart returns a job's newest restart, nil if it has none.
func (c *content) LatestRestart(namespace, id string) *api.JobRestart {
	if r := c.job(namespace, id); r != nil {
		return latestRestart(r.restarts)
	}
	return nil
}

func latestRestart(restarts []*api.JobRestart) *api.JobRestart {
	if len(restarts) == 0 {
		return nil
	}
	return restarts[len(restarts)-1]
}

// putRestart stores a new restart, or a new state of a stored one. The object becomes part
// of the store.
func (t *txn) putRestart(r *api.JobRestart) {
	_, row := t.restarts.ensure(t.gen, r.ID)
	old := row.restart
	var job *jobRow
	row.job, job = t.editJob(r.Namespace, r.JobID)
	row.restart = r
	job.restarts = slices.Clone(job.restarts)
	if at := slices.Index(job.restarts, old); old != nil && at >= 0 {
		job.restarts[at] = r
	} else {
		job.restarts = append(job.restarts, r)
	}
	t.emit(TableRestarts, Put, orNil(old), r)
}

// endRestart cancels the job's active restart, if it has one.
func (t *txn) endRestart(namespace, id string, reason api.Reason, description string, now int64) {
	active := t.LatestRestart(namespace, id)
	if active == nil || !active.IsActive() {
		return
	}
	r := active.Copy()
	r.Status, r.StatusReason, r.StatusDescription, r.NextBatch = api.RestartCancelled, reason, description, time.Time{}
	r.UpdatedAt, r.ModifyIndex = unixNano(now), t.index
	t.putRestart(r)
}

func (t *txn) deleteRestart(id string) {
	slot, ok := t.restarts.ids.get(id)
	if !ok {
		return
	}
	row := t.restarts.rows.at(slot)
	old, job := row.restart, t.editJobAt(row.job)
	job.restarts = slices.DeleteFunc(slices.Clone(job.restarts), func(r *api.JobRestart) bool { return r == old })
	t.restarts.remove(t.gen, id, slot)
	t.emit(TableRestarts, Delete, old, nil)
}

// forgetRestarts deletes all restarts of a job.
func (t *txn) forgetRestarts(job *jobRow) {
	for _, r := range job.restarts {
		if slot, ok := t.restarts.ids.get(r.ID); ok {
			t.restarts.remove(t.gen, r.ID, slot)
			t.emit(TableRestarts, Delete, r, nil)
		}
	}
	job.restarts = nil
}

func (l *loader) loadRestarts(slot uint32, job *jobRow, restarts []*api.JobRestart) error {
	for _, r := range restarts {
		if r == nil || r.Namespace != job.namespace || r.JobID != job.id {
			return fmt.Errorf("job %q has a restart that is not its own", job.id)
		}
		readReason(&r.StatusReason, r.StatusDescription, reasons.Restart)
		_, row := l.restarts.ensure(l.gen, r.ID)
		if row.restart != nil {
			return fmt.Errorf("restart %s occurs twice", r.ID)
		}
		row.restart, row.job = r, slot
	}
	job.restarts = restarts
	l.seen.Restarts += len(restarts)
	return nil
}
