// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// An evaluationRow is an evaluation and the allocations that it created. It outlives a
// deleted evaluation while it has allocations.
type evaluationRow struct {
	evaluation  *api.Evaluation
	allocations list
	job         uint32 // set only with an evaluation
	inJob       uint32
}

// Evaluation returns the evaluation of that id; nil if it does not exist.
func (c *content) Evaluation(id string) *api.Evaluation {
	if r := c.evaluations.find(id); r != nil {
		return r.evaluation
	}
	return nil
}

// Evaluations yields all evaluations, ordered by id.
func (c *content) Evaluations() iter.Seq[*api.Evaluation] { return c.EvaluationsPrefix("") }

// EvaluationsPrefix yields the evaluations whose id begins with prefix, ordered
// by id.
func (c *content) EvaluationsPrefix(prefix string) iter.Seq[*api.Evaluation] {
	return func(yield func(*api.Evaluation) bool) {
		c.evaluations.prefix(prefix, func(_ string, r *evaluationRow) bool {
			return r.evaluation == nil || yield(r.evaluation)
		})
	}
}

// EvaluationsByJob yields a job's evaluations, in no particular order.
func (c *content) EvaluationsByJob(namespace, id string) iter.Seq[*api.Evaluation] {
	r := c.job(namespace, id)
	if r == nil {
		return none[*api.Evaluation]
	}
	return func(yield func(*api.Evaluation) bool) {
		for _, slot := range r.evaluations.slots {
			if !yield(c.evaluations.rows.at(slot).evaluation) {
				return
			}
		}
	}
}

// putEvaluation stores a new evaluation, or a new state of a stored one.
func (t *txn) putEvaluation(e *api.Evaluation) {
	slot, row := t.evaluations.ensure(t.gen, e.ID)
	old := row.evaluation
	c := e.Copy()
	c.CreateIndex, c.ModifyIndex = t.index, t.index
	if old != nil {
		c.CreateIndex = old.CreateIndex
		if c.CreateTime == 0 {
			c.CreateTime = old.CreateTime
		}
	}
	row.evaluation = c
	if old != nil && old.JobKey() != c.JobKey() {
		t.unlinkEvaluation(row)
	}
	var job *jobRow
	if old == nil || old.JobKey() != c.JobKey() {
		row.job, job = t.editJob(c.Namespace, c.JobID)
		row.inJob = job.evaluations.add(slot)
		job.newest = slot + 1
	} else {
		job = t.editJobAt(row.job)
	}
	if old != nil && old.JobKey() == c.JobKey() && !old.IsTerminal() {
		job.open--
	}
	if !c.IsTerminal() {
		job.open++
	}
	t.shareTexts(c, old, job)
	t.noteBlocked(job, slot, c)
	t.queue(job, c)
	t.hold(row.job, c)
	t.emit(TableEvaluations, Put, orNil(old), c)
	t.markDirty(row.job)
}

// shareTexts lets a new evaluation refer to the ids of its job, its deployment and its related evaluations
// instead of copies: each takes 48 bytes.
func (t *txn) shareTexts(e, old *api.Evaluation, job *jobRow) {
	e.Namespace, e.JobID = job.namespace, job.id
	if old != nil {
		e.ID = old.ID
	}
	if d := t.Deployment(e.DeploymentID); d != nil {
		e.DeploymentID = d.ID
	}
	if p := t.Evaluation(e.PreviousEval); p != nil {
		e.PreviousEval = p.ID
		if p.BlockedEval == e.ID {
			e.ID = p.BlockedEval
		}
	}
	if b := t.Evaluation(e.BlockedEval); b != nil {
		e.BlockedEval = b.ID
	}
}

func (t *txn) deleteEvaluation(id string) {
	slot, ok := t.evaluations.ids.get(id)
	if !ok {
		return
	}
	row := t.evaluations.rows.edit(t.gen, slot)
	if old := row.evaluation; old != nil {
		job := t.editJobAt(row.job)
		if !old.IsTerminal() {
			job.open--
		}
		t.markDirty(row.job)
		t.unlinkEvaluation(row)
		row.evaluation = nil
		t.emit(TableEvaluations, Delete, old, nil)
	}
	t.dropEvaluation(id, slot)
}

func (t *txn) unlinkEvaluation(row *evaluationRow) {
	job := t.editJobAt(row.job)
	slot := job.evaluations.slots[row.inJob] + 1
	wasNewest, wasBlocked := slot == job.newest, slot == job.blocked
	if moved, ok := job.evaluations.remove(t.gen, row.inJob); ok {
		t.evaluations.rows.edit(t.gen, moved).inJob = row.inJob
	}
	if wasBlocked {
		t.findBlocked(job)
	}
	if wasNewest {
		t.findNewest(job)
	}
	t.dropJob(row.job)
}

// findNewest finds the job's newest evaluation.
func (t *txn) findNewest(job *jobRow) {
	var newest *api.Evaluation
	job.newest = 0
	for _, slot := range job.evaluations.slots {
		if e := t.evaluations.rows.at(slot).evaluation; newest == nil || e.CreateIndex > newest.CreateIndex {
			newest, job.newest = e, slot+1
		}
	}
}

// NewestEvaluation returns the job's newest evaluation; nil if it does not exist.
func (c *content) NewestEvaluation(namespace, id string) *api.Evaluation {
	if r := c.job(namespace, id); r != nil && r.newest > 0 {
		return c.evaluations.rows.at(r.newest - 1).evaluation
	}
	return nil
}

// BlockedEvaluation returns the job's blocked evaluation; nil if it does not exist.
func (c *content) BlockedEvaluation(namespace, id string) *api.Evaluation {
	if r := c.job(namespace, id); r != nil && r.blocked > 0 {
		return c.evaluations.rows.at(r.blocked - 1).evaluation
	}
	return nil
}

// noteBlocked updates the job's blocked evaluation when an evaluation is stored.
func (t *txn) noteBlocked(job *jobRow, slot uint32, e *api.Evaluation) {
	switch {
	case e.Status != api.EvalStatusBlocked:
		if job.blocked == slot+1 {
			t.findBlocked(job)
		}
	case job.blocked == 0 || isNewer(e, t.evaluations.rows.at(job.blocked-1).evaluation):
		job.blocked = slot + 1
	}
}

// findBlocked finds the job's newest blocked evaluation.
func (t *txn) findBlocked(job *jobRow) {
	job.blocked = 0
	for _, slot := range job.evaluations.slots {
		if e := t.evaluations.rows.at(slot).evaluation; e.Status == api.EvalStatusBlocked {
			t.noteBlocked(job, slot, e)
		}
	}
}

func isNewer(e, than *api.Evaluation) bool {
	return e.CreateIndex > than.CreateIndex || e.CreateIndex == than.CreateIndex && e.ID > than.ID
}

// dropEvaluation removes an evaluation's row when nothing refers to it any more.
func (t *txn) dropEvaluation(id string, slot uint32) {
	if r := t.evaluations.rows.at(slot); r.evaluation == nil && r.allocations.len() == 0 {
		t.evaluations.remove(t.gen, id, slot)
	}
}
