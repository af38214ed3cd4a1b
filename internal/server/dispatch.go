// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"cmp"
	"context"
	"errors"
	"path"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// launchAttempts is how often a start is tried again when its parent was
// changed at the same moment.
const launchAttempts = 5

// DispatchJob starts a child of a parameterized job, or of the target of a parameterized unit. Dispatching
// again with the same idempotency token answers with the same child.
func (s *Server) DispatchJob(ctx context.Context, ns, id string, req *api.DispatchJobRequest) (*api.DispatchJobResponse, error) {
	for attempt := 1; ; attempt++ {
		res, err := s.dispatch(ctx, ns, id, req)
		if err == nil || attempt == launchAttempts || !isConflict(err) {
			return res, err
		}
	}
}

func (s *Server) dispatch(ctx context.Context, ns, id string, req *api.DispatchJobRequest) (*api.DispatchJobResponse, error) {
	snap := s.store.Snapshot()
	job, err := startingJob(snap, ns, id)
	if err != nil {
		return nil, err
	}
	if err := job.CheckDispatch(req); err != nil {
		return nil, err
	}
	if token := req.IdempotencyToken; token != "" {
		if child := snap.DispatchedFrom(job, token); child != nil {
			return dispatchedBefore(snap, child), nil
		}
	}
	now := time.Now()
	evalID := api.NewID()
	cmd := control.Launch(job, api.DispatchChildID(job.ID, req.IdPrefixTemplate, evalID[:8], now), evalID, api.TriggerJobDispatch, now)
	cmd.Meta, cmd.Payload, cmd.IdempotencyToken = req.Meta, req.Payload, req.IdempotencyToken
	if req.Priority != 0 {
		cmd.Priority, cmd.Evaluation.Priority = req.Priority, req.Priority
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &api.DispatchJobResponse{
		DispatchedJobID: cmd.ID, EvalID: cmd.Evaluation.ID, EvalCreateIndex: index, JobCreateIndex: index, Index: index,
	}, nil
}

// startingJob returns the job that starts the children of a name: the job with this id, or the job of the
// stack that UNIT or UNIT@VERSION means. The job of a stack that is not ready starts none.
func startingJob(snap *state.Snapshot, ns, name string) (*api.Job, error) {
	ns = cmp.Or(ns, api.DefaultNamespace)
	job := snap.Job(ns, name)
	if job == nil {
		s, err := startingStack(snap, ns, name)
		switch {
		case err != nil:
			return nil, err
		case s != nil:
			job = snap.Job(ns, s.Name)
		default:
			return nil, noStartingJob(snap, ns, name)
		}
	}
	if job == nil {
		return nil, noStartingJob(snap, ns, name)
	}
	if s := snap.Stack(ns, job.ID); s != nil && !s.IsRoutable() {
		return nil, api.Errorf(api.CodeConflict, "stack %s is %s: it starts no jobs; name the unit %s instead", s.Name, s.Status, s.Unit)
	}
	return job, nil
}

// noStartingJob says that a name is neither a job nor a unit, and where the unit is if it is in a namespace
// around the one asked for.
func noStartingJob(snap *state.Snapshot, ns, name string) error {
	unit, _, _ := strings.Cut(name, "@")
	for outer := path.Dir(ns); outer != "."; outer = path.Dir(outer) {
		if hasStacks(snap, outer, unit) {
			return api.Errorf(api.CodeNotFound, "job %q not found in namespace %q; unit %s is in namespace %s: name it with -namespace %s", name, ns, unit, outer, outer)
		}
	}
	return api.Errorf(api.CodeNotFound, "job %q not found in namespace %q", name, ns)
}

// dispatchedBefore describes a child that was made by an earlier request.
func dispatchedBefore(snap *state.Snapshot, child *api.Job) *api.DispatchJobResponse {
	res := &api.DispatchJobResponse{DispatchedJobID: child.ID, JobCreateIndex: child.CreateIndex, Index: child.CreateIndex}
	for e := range snap.EvaluationsByJob(child.Namespace, child.ID) {
		if e.CreateIndex == child.CreateIndex {
			res.EvalID, res.EvalCreateIndex = e.ID, e.CreateIndex
		}
	}
	return res
}

// ForcePeriodic starts a child of a periodic job now, regardless of its schedule and of earlier
// children.
func (s *Server) ForcePeriodic(ctx context.Context, ns, id string) (*api.ForcePeriodicResponse, error) {
	for attempt := 1; ; attempt++ {
		res, err := s.forcePeriodic(ctx, ns, id)
		if err == nil || attempt == launchAttempts || !isConflict(err) {
			return res, err
		}
	}
}

func (s *Server) forcePeriodic(ctx context.Context, ns, id string) (*api.ForcePeriodicResponse, error) {
	snap := s.store.Snapshot()
	job, err := startingJob(snap, ns, id)
	switch {
	case err != nil:
		return nil, err
	case !job.IsPeriodic():
		return nil, api.Errorf(api.CodeInvalid, "job %q is not periodic: it has no periodic block", job.ID)
	case job.Stop:
		return nil, api.Errorf(api.CodeInvalid, "job %q is stopped: run it again before forcing it", job.ID)
	}
	now := time.Now()
	at := now
	for snap.Job(job.Namespace, api.PeriodicChildID(job.ID, at)) != nil {
		at = at.Add(time.Second) // asked for more than once a second
	}
	cmd := control.Launch(job, api.PeriodicChildID(job.ID, at), api.NewID(), api.TriggerPeriodicJob, now)
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &api.ForcePeriodicResponse{EvalID: cmd.Evaluation.ID, EvalCreateIndex: index, Index: index}, nil
}

func isConflict(err error) bool {
	var e *api.Error
	return errors.As(err, &e) && e.Code == api.CodeConflict
}
