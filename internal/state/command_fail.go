// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state/wire"
)

// FailJob ends a job that cannot be carried out: no further instance starts. Running
// instances continue until they end.
type FailJob struct {
	Namespace      string
	ID             string
	JobModifyIndex uint64 // reject unless this is the job's
	Reason         string // reason in words
	Time           int64  // Unix nanoseconds
}

// Name implements Command.
func (c *FailJob) Name() string { return "FailJob" }

func (c *FailJob) apply(t *txn) error {
	current := t.Job(c.Namespace, c.ID)
	switch {
	case current == nil:
		return t.JobNotFound(c.Namespace, c.ID)
	case current.JobModifyIndex != c.JobModifyIndex:
		return api.Errorf(api.CodeConflict, "job %q was changed meanwhile", c.ID)
	case current.Stop || current.Failure != nil || current.Status == api.JobStatusDead:
		return api.Errorf(api.CodeConflict, "job %q is over already", c.ID)
	}
	j := *current
	j.Failure = &api.JobFailure{Reason: c.Reason, Time: c.Time}
	j.StatusDescription, j.Held, j.HeldReason = c.Reason, false, ""
	j.ModifyIndex = t.index
	t.decide(c.Namespace, c.ID) // reject placements that are being computed, which would still start instances
	t.putJob(&j, false, nil)
	t.cancelWaiting(c)
	return nil
}

// cancelWaiting cancels the job's evaluations that are blocked or delayed.
func (t *txn) cancelWaiting(c *FailJob) {
	row := t.job(c.Namespace, c.ID)
	var waiting []*api.Evaluation
	for _, slot := range row.evaluations.slots {
		e := t.evaluations.rows.at(slot).evaluation
		if e.Status == api.EvalStatusBlocked || e.Status == api.EvalStatusPending && !e.WaitUntil.IsZero() {
			waiting = append(waiting, e)
		}
	}
	for _, e := range waiting {
		ended := e.Copy()
		ended.Status, ended.ModifyTime = api.EvalStatusCanceled, c.Time
		ended.StatusReason, ended.StatusDescription = api.ReasonEvalJobFailed, api.ReasonEvalJobFailed.Text()
		ended.QueuedAllocations = map[string]int{}
		t.putEvaluation(ended)
	}
}

func (c *FailJob) encode() *wire.Command {
	return &wire.Command{Kind: &wire.Command_FailJob{FailJob: &wire.FailJob{
		Namespace: c.Namespace, Id: c.ID, JobModifyIndex: c.JobModifyIndex, Reason: c.Reason, Time: c.Time,
	}}}
}

func decodeFailJob(w *wire.FailJob) *FailJob {
	return &FailJob{Namespace: w.Namespace, ID: w.Id, JobModifyIndex: w.JobModifyIndex, Reason: w.Reason, Time: w.Time}
}
