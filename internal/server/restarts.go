// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/state"
)

// StartRestart begins a rolling restart of a job.
func (s *Server) StartRestart(ctx context.Context, ns, id string, req *api.JobRestartRequest) (*api.JobRestart, error) {
	snap, now := s.store.Snapshot(), time.Now()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, err
	}
	if req == nil {
		req = &api.JobRestartRequest{}
	}
	r, err := operator.NewRestart(snap, job, req, now)
	if err != nil {
		return nil, err
	}
	if r.ID == "" {
		r.ID = api.NewID()
	}
	if _, err := s.propose(ctx, &state.PutRestart{Restart: r, Evaluation: evaluationOf(job, api.TriggerRestart, 0, now)}); err != nil {
		return nil, err
	}
	return s.restart(r), nil
}

// restartReasons holds the reasons of the statuses that an operator gives a restart.
var restartReasons = map[string]api.Reason{
	api.RestartPaused:    api.ReasonRestartPaused,
	api.RestartRunning:   api.ReasonRestartResumed,
	api.RestartCancelled: api.ReasonRestartCancelled,
}

// ChangeRestart pauses, resumes or cancels a restart: status is the one that it
// is to have.
func (s *Server) ChangeRestart(ctx context.Context, id, status string, req *api.JobRestartVerbRequest) (*api.JobRestart, error) {
	if req == nil {
		req = &api.JobRestartVerbRequest{}
	}
	snap, now := s.store.Snapshot(), time.Now()
	r := snap.Restart(id)
	if r == nil {
		return nil, api.Errorf(api.CodeNotFound, "restart %q not found", id)
	}
	job, err := jobOf(snap, r.Namespace, r.JobID)
	if err != nil {
		return nil, err
	}
	reason := restartReasons[status]
	if reason == 0 {
		return nil, api.Errorf(api.CodeInvalid, "a restart can be paused, resumed or cancelled; it cannot be made %q", status)
	}
	by := req.By
	if by == "" {
		by = "unknown"
	}
	cmd := &state.UpdateRestart{
		ID: r.ID, Status: status, Reason: reason, Description: api.RestartChangedText(reason, by, req.Reason),
		Evaluation: evaluationOf(job, api.TriggerRestart, 0, now), Time: now.UnixNano(),
	}
	if _, err := s.propose(ctx, cmd); err != nil {
		return nil, err
	}
	return s.restart(r), nil
}

// restart is a restart as the store has it now.
func (s *Server) restart(r *api.JobRestart) *api.JobRestart {
	if stored := s.store.Snapshot().Restart(r.ID); stored != nil {
		return stored
	}
	return r
}

// restartVerb keeps the restart in step with its plan: it is paused while the
// plan is interrupted.
func restartVerb(snap *state.Snapshot, job *api.Job, d *api.Decision) *state.UpdateRestart {
	current := snap.LatestRestart(job.Namespace, job.ID)
	status, ok := operator.RestartStatus(d.Verb)
	if !ok || current == nil || !current.IsActive() || current.Status == status {
		return nil
	}
	reason := restartReasons[status]
	return &state.UpdateRestart{
		ID: current.ID, Status: status, Reason: reason, Description: api.RestartChangedText(reason, d.By, d.Reason), Time: d.Time,
	}
}
