// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan/facts"
	"github.com/reeve-run/reeve/internal/plan/view"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
)

// PlanJob predicts the effects of registering the job now. It stores nothing.
func (s *Server) PlanJob(ctx context.Context, req *api.PlanJobRequest) (*api.PlanJobResponse, error) {
	snap := s.store.Snapshot()
	job, err := s.admit(snap, req.Job, req.Namespace)
	if err != nil {
		return nil, err
	}
	view, err := s.view(ctx, snap)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	stored := snap.Job(job.Namespace, job.ID)
	res := &api.PlanJobResponse{Warnings: strings.Join(append(job.Warnings(), s.templateWarnings(snap, job)...), "\n")}
	if err := s.checkRegistration(); err != nil {
		res.Warnings = strings.TrimPrefix(res.Warnings+"\n"+err.Error(), "\n")
	}
	job.SubmitTime = now.UnixNano()
	job = snap.JobAfterRegistration(job, again(snap, job, stored))
	if stored != nil {
		res.JobModifyIndex = stored.JobModifyIndex
	}
	if req.Diff {
		res.Diff = api.DiffJobs(stored, job, true)
	}
	eval := evaluationOf(job, api.TriggerJobRegister, 0, now)
	if eval == nil {
		planStart(res, snap, view, job, now)
		return res, nil
	}
	if hint := facts.OrderHint(snap, job); hint != "" {
		res.Warnings = strings.TrimPrefix(res.Warnings+"\n"+hint, "\n")
	}
	eval.AnnotatePlan = true
	result, outcome := worker.Compute(snap, view, job, eval, now)
	res.Annotations = &api.PlanAnnotations{DesiredUpdates: result.Updates, PreemptedAllocs: preempted(result.Updates, outcome.Preempt)}
	if res.Diff != nil {
		annotate(res.Diff, stored, job, result.Updates)
	}
	res.FailedGroups, res.Nodes = outcome.Failed, nodesOf(outcome.Place)
	eval.Status, eval.Annotations, eval.FailedGroups = api.EvalStatusComplete, res.Annotations, outcome.Failed
	eval.QueuedAllocations = outcome.Queued
	res.CreatedEvals = append([]*api.Evaluation{eval}, result.FollowUps...)
	res.Plans = trees(snap, job, now)
	return res, nil
}

// trees are the plans of a job that has something to do, as they would be right
// after it was registered.
func trees(snap *state.Snapshot, job *api.Job, now time.Time) []*api.Plan {
	v := view.Derive(snap, job.Key(), job, now)
	defer v.Release()
	var open []*api.Plan
	for _, p := range v.List() {
		if p.Status != api.PlanComplete && (p.Run != "" || !p.IsCustom()) {
			open = append(open, v.Plan(p.ID))
		}
	}
	return open
}

// planStart says what a job that only starts others would start, and when.
func planStart(res *api.PlanJobResponse, snap *state.Snapshot, view *placement.View, job *api.Job, now time.Time) {
	res.Annotations = &api.PlanAnnotations{DesiredUpdates: map[string]*api.DesiredUpdates{}}
	if job.IsPeriodic() && job.Periodic.IsEnabled() {
		if schedule, err := job.Periodic.Schedule(); err == nil {
			res.NextPeriodicLaunch = schedule.Next(now)
		}
	}
	child := *job
	child.ID, child.ParentID = job.ID+api.DispatchLaunchSuffix+"plan", job.ID
	child.Periodic, child.Dispatched = nil, true
	result, outcome := worker.Compute(snap, view, &child, newEvaluation(&child, api.TriggerJobDispatch, now), now)
	preempted(result.Updates, outcome.Preempt)
	res.Start, res.FailedGroups, res.Nodes = result.Updates, outcome.Failed, nodesOf(outcome.Place)
}

// nodesOf counts placements by group and node.
func nodesOf(place []*api.Allocation) map[string]map[string]int {
	nodes := map[string]map[string]int{}
	for _, a := range place {
		if nodes[a.Group] == nil {
			nodes[a.Group] = map[string]int{}
		}
		nodes[a.Group][a.NodeName]++
	}
	return nodes
}

// preempted lists what a dry run would preempt, and counts it by the group that
// would.
func preempted(updates map[string]*api.DesiredUpdates, preempted []placement.Preemption) []*api.AllocationListStub {
	var stubs []*api.AllocationListStub
	for _, v := range preempted {
		stubs = append(stubs, v.Alloc.Stub())
		if u := updates[v.By.Group]; u != nil {
			u.Preemptions++
		}
	}
	return stubs
}

// view is the fleet to place a dry run on.
func (s *Server) view(ctx context.Context, snap *state.Snapshot) (*placement.View, error) {
	if t := s.term.Load(); t != nil {
		return t.fleet.View(ctx, snap.Index())
	}
	return placement.NewFleet(snap).View(), nil
}
