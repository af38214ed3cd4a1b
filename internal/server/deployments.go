// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
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
	cmd := control.FailDeployment(snap, d, control.FailedByUser, time.Now())
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	res := &api.DeploymentResponse{DeploymentModifyIndex: index, Index: index}
	if cmd.Evaluation != nil {
		res.EvalID, res.EvalCreateIndex = cmd.Evaluation.ID, index
	}
	if cmd.Job != nil {
		res.RevertedJobVersion = control.StableVersion(snap, d)
	}
	return res, nil
}

// PauseDeployment holds a deployment where it is, or lets it go on.
func (s *Server) PauseDeployment(ctx context.Context, id string, pause bool) (*api.DeploymentResponse, error) {
	snap := s.store.Snapshot()
	d, err := activeDeployment(snap, id)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	cmd := &state.UpdateDeployment{ID: id, Time: now.UnixNano()}
	switch {
	case pause && d.Status == api.DeploymentPaused:
		return nil, api.Errorf(api.CodeInvalid, "deployment %s is paused already", api.ShortID(id))
	case !pause && d.Status != api.DeploymentPaused:
		return nil, api.Errorf(api.CodeInvalid, "deployment %s is not paused: it is %s", api.ShortID(id), d.Status)
	case pause:
		cmd.Status, cmd.Description = api.DeploymentPaused, control.Paused
	default:
		cmd.Status, cmd.Description = api.DeploymentRunning, control.Running
		cmd.Evaluation = control.DeploymentEvaluation(snap, d, now)
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	res := &api.DeploymentResponse{DeploymentModifyIndex: index, Index: index}
	if cmd.Evaluation != nil {
		res.EvalID, res.EvalCreateIndex = cmd.Evaluation.ID, index
	}
	return res, nil
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
