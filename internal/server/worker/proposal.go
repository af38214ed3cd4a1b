// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package worker

import (
	"maps"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/state"
)

// A proposal is the result of a delivery that was evaluated on one snapshot: the changes
// to commit, and the ends of its evaluations.
type proposal struct {
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

func newProposal(d *broker.Delivery, snap *state.Snapshot, job *api.Job, result *plan.Result, outcome *placement.Outcome, now time.Time) *proposal {
	pr := &proposal{delivery: d, snap: snap, job: job, result: result, outcome: outcome, now: now, queued: map[string]int{}}
	if job != nil && !job.Stop {
		for _, g := range job.Groups {
			pr.queued[g.Name] = outcome.Queued[g.Name]
		}
	}
	if !outcome.IsWhole() {
		pr.block(api.TriggerQueuedAllocs)
		pr.blocked.ClassEligibility, pr.blocked.EscapedComputedClass = outcome.ClassEligibility, outcome.Escaped
		pr.waitForQuota()
	}
	pr.end()
	return pr
}

// block sets the blocked evaluation.
func (pr *proposal) block(trigger string) {
	lead := pr.delivery.Evaluation
	b := pr.delivery.Blocked
	if b != nil {
		b = b.Copy()
	} else {
		b = &api.Evaluation{
			ID: api.NewID(), Namespace: lead.Namespace, JobID: lead.JobID, Type: lead.Type, Priority: lead.Priority,
			TriggeredBy: trigger, PreviousEval: lead.ID, CreateTime: pr.now.UnixNano(),
		}
	}
	b.Status = api.EvalStatusBlocked
	b.StatusReason, b.StatusDescription = api.ReasonEvalNoRoom, api.ReasonEvalNoRoom.Text()
	b.WaitUntil = time.Time{}
	b.JobModifyIndex, b.ModifyTime = lead.JobModifyIndex, pr.now.UnixNano()
	b.SnapshotIndex = pr.snap.Index()
	b.FailedGroups, b.QueuedAllocations, b.Held = pr.outcome.Failed, pr.queued, pr.result.Held
	b.ClassEligibility, b.EscapedComputedClass = nil, true
	b.QuotaLimitReached = pr.outcome.Quota
	pr.blocked = b
}

// waitForQuota completes a blocked evaluation some of whose instances a quota refused. Without node
// classes, it waits for quotas alone.
func (pr *proposal) waitForQuota() {
	b := pr.blocked
	switch {
	case b.QuotaLimitReached == "":
	case !pr.outcome.Room:
		b.ClassEligibility, b.EscapedComputedClass = nil, false
		b.StatusDescription = "waits for quota " + b.QuotaLimitReached + ": see reeve quota status " + b.QuotaLimitReached
	case len(b.ClassEligibility) == 0:
		b.EscapedComputedClass = true
	}
}

// end records how the evaluations of the delivery end.
func (pr *proposal) end() {
	lead := pr.delivery.Evaluation
	finish := func(e *api.Evaluation, status string, reason api.Reason, description string) {
		if stored := pr.snap.Evaluation(e.ID); stored == nil || stored.IsTerminal() {
			return
		}
		c := e.Copy()
		c.Status, c.StatusReason, c.StatusDescription = status, reason, description
		c.FailedGroups, c.QueuedAllocations, c.Held = pr.outcome.Failed, pr.queued, pr.result.Held
		c.SnapshotIndex, c.ModifyTime = pr.snap.Index(), pr.now.UnixNano()
		c.DeploymentID = pr.deployment()
		if pr.blocked != nil && pr.blocked.ID != e.ID {
			c.BlockedEval = pr.blocked.ID
		}
		if len(pr.result.FollowUps) > 0 {
			c.NextEval = pr.result.FollowUps[0].ID
		}
		pr.ends = append(pr.ends, c)
	}
	for _, e := range pr.delivery.Riders {
		finish(e, api.EvalStatusComplete, api.ReasonEvalJoined, api.EvalJoinedText(lead.ID))
	}
	if lead != pr.delivery.Blocked {
		finish(lead, api.EvalStatusComplete, 0, "")
	}
	switch b := pr.delivery.Blocked; {
	case pr.blocked != nil:
		pr.ends = append(pr.ends, pr.blocked)
	case b == nil:
	case pr.job == nil || pr.job.Stop:
		finish(b, api.EvalStatusCanceled, api.ReasonEvalJobStopped, api.ReasonEvalJobStopped.Text())
	default:
		finish(b, api.EvalStatusComplete, 0, "")
	}
}

// deployment returns the id of the evaluation's deployment, or "".
func (pr *proposal) deployment() string {
	if pr.result.Deployment != nil {
		return pr.result.Deployment.ID
	}
	if pr.job == nil {
		return ""
	}
	if d := pr.snap.LatestDeployment(pr.job.Namespace, pr.job.ID); d != nil && d.JobVersion == pr.job.Version {
		return d.ID
	}
	return ""
}

// changesNothing reports whether the proposal has nothing to write: a blocked evaluation was
// delivered alone and continues to wait for the same changes.
func (pr *proposal) changesNothing() bool {
	b := pr.delivery.Blocked
	return pr.blocked != nil && b == pr.delivery.Evaluation && len(pr.delivery.Riders) == 0 &&
		pr.nothingToCommit() &&
		b.WaitUntil.IsZero() && b.Held == pr.blocked.Held && b.EscapedComputedClass == pr.blocked.EscapedComputedClass &&
		b.QuotaLimitReached == pr.blocked.QuotaLimitReached &&
		maps.Equal(b.ClassEligibility, pr.blocked.ClassEligibility) &&
		maps.Equal(b.QueuedAllocations, pr.blocked.QueuedAllocations)
}

// submission returns the changes to commit.
func (pr *proposal) submission() *applier.Submission {
	p := pr.placement()
	p.Place = append(p.Place, pr.outcome.Place...)
	for _, s := range pr.outcome.Stop {
		p.Stop = append(p.Stop, stop(s))
	}
	preempt(p, pr.outcome.Preempt, pr.snap, pr.now)
	return &applier.Submission{Job: pr.delivery.Evaluation.JobKey(), Placement: p, Ends: pr.ends}
}

// placement returns the changes that need no room.
func (pr *proposal) placement() *state.Placement {
	lead := pr.delivery.Evaluation
	p := &state.Placement{
		EvalID: lead.ID, Priority: lead.Priority, SnapshotIndex: pr.snap.Index(), Job: pr.job,
		AllAtOnce:  pr.job != nil && pr.job.AllAtOnce,
		Place:      pr.result.Update[:len(pr.result.Update):len(pr.result.Update)],
		Deployment: pr.result.Deployment, Restart: pr.result.Restart, Deregister: pr.result.Deregister,
		Evaluations: pr.result.FollowUps, Time: pr.now.UnixNano(),
	}
	for _, s := range pr.result.Stop {
		p.Stop = append(p.Stop, stop(s))
	}
	for _, u := range pr.result.DeploymentUpdates {
		p.DeploymentUpdates = append(p.DeploymentUpdates, state.DeploymentUpdate(u))
	}
	return p
}

func stop(s *placement.Stop) state.Stop {
	return state.Stop{ID: s.Alloc.ID, Reason: s.Reason, Description: s.Description, ClientStatus: s.ClientStatus}
}

// setAside gives up placing for now. The evaluation ends, and a blocked one retries after
// retryAfter.
func (pr *proposal) setAside(refused []string) *applier.Submission {
	for group := range pr.queued {
		pr.queued[group] = 0
	}
	maps.Copy(pr.queued, pr.result.Queued)
	pr.block(api.TriggerMaxPlacementAttempts)
	pr.blocked.WaitUntil = pr.now.Add(retryAfter).UTC()
	pr.blocked.StatusReason, pr.blocked.StatusDescription = api.ReasonEvalRejected, api.EvalRejectedText(attempts, refused)
	pr.ends = nil
	pr.end()
	return &applier.Submission{Job: pr.delivery.Evaluation.JobKey(), Placement: &state.Placement{}, Ends: pr.ends}
}

func (pr *proposal) nothingToCommit() bool {
	return len(pr.outcome.Place)+len(pr.outcome.Stop)+len(pr.result.Stop)+len(pr.result.Update)+
		len(pr.result.DeploymentUpdates)+len(pr.result.FollowUps) == 0 && pr.result.Deployment == nil && pr.result.Restart == nil && !pr.result.Deregister
}
