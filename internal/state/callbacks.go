// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"crypto/sha256"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// A callbackRow is a callback. The job's row lists its callbacks in order.
type callbackRow struct {
	callback *api.Callback
	job      uint32
}

// callbacksKept is the number of ended callbacks kept per job.
const callbacksKept = 8

// Callback returns the callback of that id; nil if it does not exist.
func (c *content) Callback(id string) *api.Callback {
	if r := c.callbacks.find(id); r != nil {
		return r.callback
	}
	return nil
}

// CallbacksPrefix yields the callbacks whose id begins with prefix, ordered by
// id.
func (c *content) CallbacksPrefix(prefix string) iter.Seq[*api.Callback] {
	return func(yield func(*api.Callback) bool) {
		c.callbacks.prefix(prefix, func(_ string, r *callbackRow) bool { return yield(r.callback) })
	}
}

// CallbacksByJob yields a job's callbacks, newest first.
func (c *content) CallbacksByJob(namespace, id string) iter.Seq[*api.Callback] {
	r := c.job(namespace, id)
	if r == nil {
		return none[*api.Callback]
	}
	return func(yield func(*api.Callback) bool) {
		for _, callback := range slices.Backward(r.callbacks) {
			if !yield(callback) {
				return
			}
		}
	}
}

// conclude creates the callback of a finished job in the entry that finished it. The
// callback therefore exists whatever happens to the servers and to the job afterwards. Its
// time is the time of the entry.
func (t *txn) conclude(slot uint32) {
	row := *t.jobs.rows.at(slot)
	job := row.job
	if job == nil || job.Callback == nil || job.IsPeriodic() || job.IsParameterized() || row.status() != api.JobStatusDead {
		return
	}
	t.callBack(slot, row, false)
}

// callBack is conclude for a job that has finished, or is about to be removed (gone).
func (t *txn) callBack(slot uint32, row *jobRow, gone bool) {
	job := row.job
	ends := ends{job: job, gone: gone}
	for _, a := range row.allocations.slots {
		if !ends.add(t.allocations.rows.at(a).allocation) {
			return // the job still has a running allocation
		}
	}
	about := &api.Callback{
		Namespace: job.Namespace, JobID: job.ID, JobVersion: job.Version, JobCreateIndex: job.CreateIndex,
		Target: job.Callback, Newest: ends.newest, Status: api.CallbackPending,
	}
	if job.Failure != nil {
		about.Failed = job.Failure.Time
	}
	if slices.ContainsFunc(row.callbacks, func(c *api.Callback) bool { return c.Tells(about) }) {
		return
	}
	about.ID = callbackID(t.cluster.id, about)
	c := ends.completion()
	c.ID, about.Completion = about.ID, c
	now := time.Unix(0, t.now).UTC()
	switch {
	case t.now == 0:
		now = c.EndedAt
	case len(ends.last) == 0:
		c.EndedAt = now
	}
	giveUpAfter := api.DefaultCallbackGiveUpAfter
	if d := job.Callback.GiveUpAfter; d != nil {
		giveUpAfter = *d
	}
	about.CreatedAt, about.NextAttempt, about.GiveUpAt = now, now, now.Add(giveUpAfter)
	about.CreateIndex, about.ModifyIndex = t.index, t.index
	t.putCallback(about)
	t.trimCallbacks(slot)
}

// callbackID returns the id of a callback, derived from the cluster and the end of the job
// that it reports.
func callbackID(cluster string, c *api.Callback) string {
	h := sha256.Sum256([]byte(strings.Join([]string{
		"callback", cluster, c.Namespace, c.JobID, strconv.FormatUint(c.JobCreateIndex, 10),
		strconv.FormatUint(c.JobVersion, 10), strconv.FormatUint(c.Newest, 10), strconv.FormatInt(c.Failed, 10),
	}, "\x00")))
	h[6] = h[6]&0x0f | 0x80 // UUID version 8: custom derivation
	h[8] = h[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", h[0:4], h[4:6], h[6:8], h[8:10], h[10:16])
}

// putCallback stores a new callback, or a new state of a stored one.
func (t *txn) putCallback(c *api.Callback) {
	_, row := t.callbacks.ensure(t.gen, c.ID)
	old := row.callback
	var job *jobRow
	row.job, job = t.editJob(c.Namespace, c.JobID)
	row.callback = c
	job.callbacks = slices.Clone(job.callbacks)
	if at := slices.Index(job.callbacks, old); old != nil && at >= 0 {
		job.callbacks[at] = c
	} else {
		job.callbacks = append(job.callbacks, c)
	}
	t.emit(TableCallbacks, Put, orNil(old), c)
}

// trimCallbacks deletes the oldest ended callbacks of a job.
func (t *txn) trimCallbacks(slot uint32) {
	t.forgetCallbacks(slot, callbacksKept)
}

// forgetCallbacks deletes a job's ended callbacks except for the newest keep. Pending
// callbacks stay, even after their job.
func (t *txn) forgetCallbacks(slot uint32, keep int) {
	row := t.editJobAt(slot)
	kept, ended := make([]*api.Callback, 0, len(row.callbacks)), 0
	for _, c := range slices.Backward(row.callbacks) {
		if !c.IsPending() {
			if ended++; ended > keep {
				if at, ok := t.callbacks.ids.get(c.ID); ok {
					t.callbacks.remove(t.gen, c.ID, at)
					t.emit(TableCallbacks, Delete, c, nil)
				}
				continue
			}
		}
		kept = append(kept, c)
	}
	slices.Reverse(kept)
	row.callbacks = kept
}

func (l *loader) loadCallbacks(slot uint32, job *jobRow, callbacks []*api.Callback) error {
	for _, c := range callbacks {
		if c == nil || c.Namespace != job.namespace || c.JobID != job.id {
			return fmt.Errorf("job %q has a callback that is not its own", job.id)
		}
		_, row := l.callbacks.ensure(l.gen, c.ID)
		if row.callback != nil {
			return fmt.Errorf("callback %s occurs twice", c.ID)
		}
		row.callback, row.job = c, slot
	}
	job.callbacks = callbacks
	l.seen.Callbacks += len(callbacks)
	return nil
}

// entryTime returns the time of a command in Unix nanoseconds, or 0 if the command has
// none.
func entryTime(c Command) int64 {
	switch c := c.(type) {
	case *UpdateAllocations:
		return c.Time
	case *CommitPlacement:
		if c.Placement != nil {
			return c.Placement.Time
		}
	case *DeregisterJob:
		return c.Time
	case *FailJob:
		return c.Time
	case *PutEvaluations:
		return newestTime(c.Evaluations)
	}
	return 0
}

func newestTime(evaluations []*api.Evaluation) (at int64) {
	for _, e := range evaluations {
		if e != nil {
			at = max(at, e.ModifyTime)
		}
	}
	return at
}
