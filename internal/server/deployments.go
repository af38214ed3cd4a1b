// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/operator"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/state"
)

// FailDeployment ends a deployment as failed; groups with auto_revert take the
// job back to its latest stable version.
func (s *Server) FailDeployment(ctx context.Context, id string) (*api.DeploymentResponse, error) {
	snap := s.store.Snapshot()
	d, err := activeDeployment(snap, id)
	if err != nil {
		return nil, err
	}
	cmd := control.FailDeployment(snap, d, api.ReasonDeploymentFailedByOperator, time.Now())
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	res := deploymentChanged(index, cmd.Evaluation)
	if cmd.Job != nil {
		res.RevertedJobVersion = control.StableVersion(snap, d)
	}
	return res, nil
}

// PauseDeployment pauses or resumes a deployment, like an interruption or continuation of its
// plan.
func (s *Server) PauseDeployment(ctx context.Context, id string, req *api.DeploymentPauseRequest) (*api.DeploymentResponse, error) {
	snap := s.store.Snapshot()
	d, err := activeDeployment(snap, id)
	if err != nil {
		return nil, err
	}
	verb := api.VerbContinue
	switch {
	case req.Pause && d.Status == api.DeploymentPaused:
		return nil, api.Errorf(api.CodeInvalid, "deployment %s is paused already", api.ShortID(id))
	case !req.Pause && d.Status != api.DeploymentPaused:
		return nil, api.Errorf(api.CodeInvalid, "deployment %s is not paused: it is %s", api.ShortID(id), d.Status)
	case req.Pause:
		verb = api.VerbInterrupt
	}
	if job := snap.Job(d.Namespace, d.JobID); job == nil || job.Version != d.JobVersion {
		return nil, api.Errorf(api.CodeConflict, "deployment %s is of version %d of the job, which is not its newest: it is about to end", api.ShortID(id), d.JobVersion)
	}
	res, err := s.PlanVerb(ctx, d.Namespace, d.JobID, api.PlanDeploy, verb, &api.PlanRequest{By: req.By, Reason: req.Reason})
	if err != nil {
		return nil, err
	}
	return &api.DeploymentResponse{
		EvalID: res.EvalID, EvalCreateIndex: res.Index, DeploymentModifyIndex: res.Index, Index: res.Index,
	}, nil
}

// PromoteDeployment lets the canaries of the groups take the places of older
// instances; those of all groups, if none is named.
func (s *Server) PromoteDeployment(ctx context.Context, id string, groups []string) (*api.DeploymentResponse, error) {
	snap := s.store.Snapshot()
	d, err := activeDeployment(snap, id)
	if err != nil {
		return nil, err
	}
	cmd, err := control.PromoteDeployment(snap, d, groups, time.Now())
	if err != nil {
		return nil, err
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return deploymentChanged(index, cmd.Evaluation), nil
}

// SetAllocationHealth stores an operator's verdict on the health of a deployment's
// allocations. An unhealthy one fails the deployment; if its group has auto_revert, the job
// returns to its latest stable version.
func (s *Server) SetAllocationHealth(ctx context.Context, id string, healthy, unhealthy []string) (*api.DeploymentResponse, error) {
	snap := s.store.Snapshot()
	d, err := activeDeployment(snap, id)
	if err != nil {
		return nil, err
	}
	cmd, err := control.SetHealth(snap, d, healthy, unhealthy, time.Now())
	if err != nil {
		return nil, err
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	res := deploymentChanged(index, cmd.Evaluation)
	if cmd.Job != nil {
		res.RevertedJobVersion = control.StableVersion(snap, d)
	}
	return res, nil
}

// UnblockDeployment continues a deployment that waits for other regions. Without other
// regions, no deployment waits.
func (s *Server) UnblockDeployment(_ context.Context, id string) (*api.DeploymentResponse, error) {
	d, err := activeDeployment(s.store.Snapshot(), id)
	if err != nil {
		return nil, err
	}
	return nil, operator.Unblock(d)
}

func deploymentChanged(index uint64, eval *api.Evaluation) *api.DeploymentResponse {
	res := &api.DeploymentResponse{DeploymentModifyIndex: index, Index: index}
	if eval != nil {
		res.EvalID, res.EvalCreateIndex = eval.ID, index
	}
	return res
}

func activeDeployment(snap *state.Snapshot, id string) (*api.Deployment, error) {
	d := snap.Deployment(id)
	switch {
	case d == nil:
		return nil, api.Errorf(api.CodeNotFound, "deployment %q not found", id)
	case !d.IsActive():
		return nil, api.Errorf(api.CodeInvalid, "deployment %s has ended: it is %s (%s)", api.ShortID(id), d.Status, d.StatusDescription)
	}
	return d, nil
}
