// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package control

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/state"
)

// converge looks for what no event led to: it compares the set of instances
// that each job should have with the set that is held, and has the job evaluated
// where they differ. It also has jobs evaluated that may take orphans over, or
// whose orphans may be stopped now because their domain became fresh.
//
// What it finds it does not repair: the evaluation does, and judges again.
type converge struct {
	places
	look func(*api.Allocation) bool // places.visit, bound once: a pass over many small jobs makes nothing for each
}

// convergeEvery is the time from one pass over everything to the next.
const convergeEvery = 30 * time.Second

// convergeAgain is when a job is looked at again that is being evaluated, maybe
// on a state in which its domain was not fresh yet.
const convergeAgain = time.Second

// Keys of the controller. Those of jobs are as jobKey says.
const (
	convergeAll     = "all"
	convergeDomains = "domains"
)

// NewConverge returns the controller that compares what should run with what
// runs.
func NewConverge() Controller {
	c := &converge{}
	c.look = c.visit
	return c
}

func (*converge) Name() string { return "converge" }

func (*converge) All(*state.Snapshot) []string { return []string{convergeAll, convergeDomains} }

func (*converge) Touched(c *state.Change, add func(string)) {
	switch c.Table {
	case state.TableDomains:
		if d, _ := c.New.(*api.Domain); d != nil && !d.Stale {
			add(convergeDomains)
		}
	case state.TableAllocations:
		a, _ := c.New.(*api.Allocation)
		if old, _ := c.Old.(*api.Allocation); a != nil && a.Orphan && old == nil {
			add(jobKey(a.JobKey()))
		}
	}
}

func (c *converge) Act(snap *state.Snapshot, key string, now time.Time) (cmds []state.Command, wake time.Time) {
	var evals []*api.Evaluation
	switch key {
	case convergeAll:
		evals, wake = c.pass(snap, now), now.Add(convergeEvery)
	case convergeDomains:
		seen := map[api.NamespacedID]bool{}
		for a := range snap.Orphans() {
			id := a.JobKey()
			if seen[id] {
				continue
			}
			seen[id] = true
			e, busy := orphansOf(snap, id, now)
			if evals = append(evals, e...); busy {
				wake = now.Add(convergeAgain)
			}
		}
	default:
		var busy bool
		if evals, busy = orphansOf(snap, parseJobKey(key), now); busy {
			wake = now.Add(convergeAgain)
		}
	}
	if len(evals) > 0 {
		cmds = []state.Command{&state.PutEvaluations{Evaluations: evals}}
	}
	return cmds, wake
}

// orphansOf is an evaluation of a job about whose orphans something may have to
// be done that was not known when it was evaluated last; none if there is
// nothing. Busy says that an evaluation is under way that may not have seen all.
func orphansOf(snap *state.Snapshot, id api.NamespacedID, now time.Time) (evals []*api.Evaluation, busy bool) {
	job := snap.Job(id.Namespace, id.ID)
	var of *api.Job
	var since uint64
	for a := range snap.AllocationsByJob(id.Namespace, id.ID) {
		if !a.Orphan || a.IsTerminal() {
			continue
		}
		d := snap.Domain(api.DomainOf(job, a))
		switch {
		case d.IsFresh(now):
			of, since = a.Job, max(since, d.ModifyIndex, a.CreateIndex)
		case job != nil && !job.Stop: // it may take the orphan over
			of, since = job, max(since, a.CreateIndex)
		}
	}
	if of == nil {
		return nil, false
	}
	for e := range snap.EvaluationsByJob(id.Namespace, id.ID) {
		switch {
		case e.SnapshotIndex >= since && e.IsTerminal():
			return nil, false
		case e.Status == api.EvalStatusPending && e.WaitUntil.IsZero():
			busy = true
		}
	}
	if busy {
		return nil, true
	}
	if job != nil {
		of = job
	}
	return []*api.Evaluation{newEvaluation(of, api.TriggerDomainFresh, now)}, false
}

// pass compares the sets of all jobs, and returns an evaluation for each where
// they differ and an evaluation would do something about that which none that is
// under way is about to do.
func (c *converge) pass(snap *state.Snapshot, now time.Time) (evals []*api.Evaluation) {
	for job := range snap.Jobs() {
		if !c.differs(snap, job) || isAboutToBeEvaluated(snap, job, now) {
			continue
		}
		if e := newEvaluation(job, api.TriggerDomainFresh, now); acts(snap, job, e, now) {
			evals = append(evals, e)
		}
	}
	return evals
}

// differs reports whether an instance of the job is held by nothing, by two or by
// something that has ended, or an allocation is there that should not be. What a
// dead job left has been decided.
func (c *converge) differs(snap *state.Snapshot, job *api.Job) bool {
	if job.RunsOnEveryNode() || job.IsPeriodic() || job.IsParameterized() {
		return false // their sets are those of nodes and of times: others look after them
	}
	c.begin(job)
	snap.AllocationsByJob(job.Namespace, job.ID)(c.look)
	return c.extra || c.missing > 0 || c.down > 0 && job.Status != api.JobStatusDead
}

// isAboutToBeEvaluated reports whether an evaluation of the job is under way. One
// that waits for a time or for room says nothing about the job's other instances.
func isAboutToBeEvaluated(snap *state.Snapshot, job *api.Job, now time.Time) bool {
	for e := range snap.EvaluationsByJob(job.Namespace, job.ID) {
		if e.Status == api.EvalStatusPending && !e.WaitUntil.After(now) {
			return true
		}
	}
	return false
}

// acts reports whether the evaluation would change anything, or ask for room that
// the job's blocked evaluation does not wait for. A deployment may leave instances
// out until their turn comes, and an operator may hold them: then it would not.
func acts(snap *state.Snapshot, job *api.Job, e *api.Evaluation, now time.Time) bool {
	r := plan.Reconcile(snap, job, e, now)
	defer r.Placed()
	blocked := snap.BlockedEvaluation(job.Namespace, job.ID)
	for group, n := range r.Queued {
		if blocked == nil || blocked.QueuedAllocations[group] < n {
			return true
		}
	}
	r.Start = nil
	return !r.IsEmpty()
}
