// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// UpdateCallback stores the result of an attempt to deliver a callback.
type UpdateCallback struct {
	ID      string
	Attempt int    // number of the attempt, from 1
	Status  string // one of the api.Callback constants
	Answer  string // answer in words
	Time    int64  // end of the attempt; Unix nanoseconds
	Next    int64  // time of the next attempt, if the callback is still pending
}

// Name implements Command.
func (c *UpdateCallback) Name() string { return "UpdateCallback" }

func (c *UpdateCallback) apply(t *txn) error {
	old := t.Callback(c.ID)
	switch {
	case old == nil:
		return api.Errorf(api.CodeNotFound, "callback %q not found", c.ID)
	case !old.IsPending():
		return api.Errorf(api.CodeConflict, "callback %s has ended: it is %s", api.ShortID(c.ID), old.Status)
	case c.Attempt != old.Attempts+1:
		return api.Errorf(api.CodeConflict, "callback %s: attempt %d is not the next one after %d", api.ShortID(c.ID), c.Attempt, old.Attempts)
	}
	is := *old
	is.Attempts, is.LastAttempt, is.LastAnswer = c.Attempt, unixNano(c.Time), c.Answer
	is.Status, is.NextAttempt = c.Status, time.Time{}
	if is.IsPending() {
		is.NextAttempt = unixNano(c.Next)
	} else {
		is.EndedAt = is.LastAttempt
	}
	is.ModifyIndex = t.index
	t.putCallback(&is)
	if slot, row := t.editJob(is.Namespace, is.JobID); row.job == nil {
		t.forgetCallbacks(slot, 0) // the job is gone, so the callback can no longer be viewed
		t.dropJob(slot)
	}
	return nil
}

func (c *UpdateCallback) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_UpdateCallback{UpdateCallback: &wire.UpdateCallback{
		Id: c.ID, Attempt: int64(c.Attempt), Status: c.Status, Answer: c.Answer, Time: c.Time, Next: c.Next,
	}}}
}

func decodeUpdateCallback(w *wire.UpdateCallback) *UpdateCallback {
	return &UpdateCallback{ID: w.Id, Attempt: int(w.Attempt), Status: w.Status, Answer: w.Answer, Time: w.Time, Next: w.Next}
}
