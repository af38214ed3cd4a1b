// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
)

// work is a delivery evaluated on one snapshot: the changes to commit, and the ends of its
// evaluations.
type work struct {
	delivery *broker.Delivery
	snap     *state.Snapshot
	job      *api.Job
	result   *plan.Result
	outcome  *placement.Outcome
	now      time.Time

	queued map[string]int // unplaced instances by group; 0 for a group without any
	// blocked waits to place the remaining instances: the job's blocked evaluation or a
	// new one. It is nil if everything was placed.
	blocked *api.Evaluation
	ends    []*api.Evaluation
}

func newWork(d *broker.Delivery, snap *state.Snapshot, job *api.Job, result *plan.Result, outcome *placement.Outcome, now time.Time) *work {
	w := &work{delivery: d, snap: snap, job: job, result: result, outcome: outcome, now: now, queued: map[string]int{}}
	if job != nil && !job.Stop {
		for _, g := range job.Groups {
			w.queued[g.Name] = outcome.Queued[g.Name]
		}
	}
	if !outcome.IsWhole() {
		w.block(api.TriggerQueuedAllocs)
		w.blocked.ClassEligibility, w.blocked.EscapedComputedClass = outcome.ClassEligibility, outcome.Escaped
	}
	w.end()
	return w
}

// block sets the blocked evaluation.
func (w *work) block(trigger string) {
	lead := w.delivery.Evaluation
	b := w.delivery.Blocked
	if b != nil {
		b = b.Copy()
	} else {
		b = &api.Evaluation{
			ID: api.NewID(), Namespace: lead.Namespace, JobID: lead.JobID, Type: lead.Type, Priority: lead.Priority,
			TriggeredBy: trigger, PreviousEval: lead.ID, CreateTime: w.now.UnixNano(),
		}
	}
	b.Status, b.StatusDescription = api.EvalStatusBlocked, "waits for room for what could not be placed"
	b.WaitUntil = time.Time{}
	b.JobModifyIndex, b.ModifyTime = lead.JobModifyIndex, w.now.UnixNano()
	b.SnapshotIndex = w.snap.Index()
	b.FailedGroups, b.QueuedAllocations, b.Held = w.outcome.Failed, w.queued, w.result.Held
	b.ClassEligibility, b.EscapedComputedClass = nil, true
	w.blocked = b
}

// end records how the evaluations of the delivery end.
func (w *work) end() {
	lead := w.delivery.Evaluation
	finish := func(e *api.Evaluation, status, description string) {
		if stored := w.snap.Evaluation(e.ID); stored == nil || stored.IsTerminal() {
			return
		}
		c := e.Copy()
		c.Status, c.StatusDescription = status, description
		c.FailedGroups, c.QueuedAllocations, c.Held = w.outcome.Failed, w.queued, w.result.Held
		c.SnapshotIndex, c.ModifyTime = w.snap.Index(), w.now.UnixNano()
		c.DeploymentID = w.deployment()
		if w.blocked != nil && w.blocked.ID != e.ID {
			c.BlockedEval = w.blocked.ID
		}
		if len(w.result.FollowUps) > 0 {
			c.NextEval = w.result.FollowUps[0].ID
		}
		w.ends = append(w.ends, c)
	}
	for _, e := range w.delivery.Riders {
		finish(e, api.EvalStatusComplete, "worked out together with evaluation "+api.ShortID(lead.ID))
	}
	if lead != w.delivery.Blocked {
		finish(lead, api.EvalStatusComplete, "")
	}
	switch b := w.delivery.Blocked; {
	case w.blocked != nil:
		w.ends = append(w.ends, w.blocked)
	case b == nil:
	case w.job == nil || w.job.Stop:
		finish(b, api.EvalStatusCanceled, "the job was stopped")
	default:
		finish(b, api.EvalStatusComplete, "")
	}
}

// deployment returns the id of the evaluation's deployment, or "".
func (w *work) deployment() string {
	if w.result.Deployment != nil {
		return w.result.Deployment.ID
	}
	if w.job == nil {
		return ""
	}
	if d := w.snap.LatestDeployment(w.job.Namespace, w.job.ID); d != nil && d.JobVersion == w.job.Version {
		return d.ID
	}
	return ""
}

// changesNothing reports whether the work has nothing to write: a blocked evaluation was
// delivered alone and continues to wait for the same changes.
func (w *work) changesNothing() bool {
	b := w.delivery.Blocked
	return w.blocked != nil && b == w.delivery.Evaluation && len(w.delivery.Riders) == 0 &&
		w.nothingToCommit() &&
		b.WaitUntil.IsZero() && b.Held == w.blocked.Held && b.EscapedComputedClass == w.blocked.EscapedComputedClass &&
		maps.Equal(b.ClassEligibility, w.blocked.ClassEligibility) &&
		maps.Equal(b.QueuedAllocations, w.blocked.QueuedAllocations)
}

// submission returns the changes to commit.
func (w *work) submission() *applier.Submission {
	p := w.placement()
	p.Place = append(p.Place, w.outcome.Place...)
	for _, s := range w.outcome.Stop {
		p.Stop = append(p.Stop, stop(s))
	}
	preempt(p, w.outcome.Preempt, w.snap, w.now)
	return &applier.Submission{Job: w.delivery.Evaluation.JobKey(), Placement: p, Ends: w.ends}
}

// placement returns the changes that need no room.
func (w *work) placement() *state.Placement {
	lead := w.delivery.Evaluation
	p := &state.Placement{
		EvalID: lead.ID, Priority: lead.Priority, SnapshotIndex: w.snap.Index(), Job: w.job,
		AllAtOnce:  w.job != nil && w.job.AllAtOnce,
		Place:      w.result.Update[:len(w.result.Update):len(w.result.Update)],
		Deployment: w.result.Deployment, Restart: w.result.Restart, Deregister: w.result.Deregister,
		Evaluations: w.result.FollowUps, Time: w.now.UnixNano(),
	}
	for _, s := range w.result.Stop {
		p.Stop = append(p.Stop, stop(s))
	}
	for _, u := range w.result.DeploymentUpdates {
		p.DeploymentUpdates = append(p.DeploymentUpdates, state.DeploymentUpdate(u))
	}
	return p
}

func stop(s *placement.Stop) state.Stop {
	return state.Stop{ID: s.Alloc.ID, Reason: s.Reason, Description: s.Description, ClientStatus: s.ClientStatus}
}

// setAside gives up placing for now. The evaluation ends, and a blocked one retries after
// retryAfter.
func (w *work) setAside(refused []string) *applier.Submission {
	for group := range w.queued {
		w.queued[group] = 0
	}
	maps.Copy(w.queued, w.result.Queued)
	w.block(api.TriggerMaxPlacementAttempts)
	w.blocked.WaitUntil = w.now.Add(retryAfter).UTC()
	w.blocked.StatusDescription = fmt.Sprintf("placements were refused %d times in a row (%s)", attempts, strings.Join(refused, "; "))
	w.ends = nil
	w.end()
	return &applier.Submission{Job: w.delivery.Evaluation.JobKey(), Placement: &state.Placement{}, Ends: w.ends}
}

func (w *work) nothingToCommit() bool {
	return len(w.outcome.Place)+len(w.outcome.Stop)+len(w.result.Stop)+len(w.result.Update)+
		len(w.result.DeploymentUpdates)+len(w.result.FollowUps) == 0 && w.result.Deployment == nil && w.result.Restart == nil && !w.result.Deregister
}
