// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"errors"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// launchAttempts is how often a start is tried again when its parent was
// changed at the same moment.
const launchAttempts = 5

// DispatchJob starts a child of a parameterized job. Dispatching again with
// the same idempotency token answers with the same child.
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
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, err
	}
	if err := job.CheckDispatch(req); err != nil {
		return nil, err
	}
	if token := req.IdempotencyToken; token != "" {
		if child := snap.Dispatched(job.Namespace, job.ID, token); child != nil {
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
	job, err := jobOf(snap, ns, id)
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
