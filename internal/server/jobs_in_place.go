// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/update"
	"github.com/reeve-run/reeve/internal/state"
)

// changeAttempts is how often a change is worked out anew because the job was
// changed meanwhile.
const changeAttempts = 8

// ChangeJob changes a job without restarting tasks. Absent fields keep their values; a change
// without an effect writes nothing.
func (s *Server) ChangeJob(ctx context.Context, ns, id string, change *api.JobChange) (*api.ChangeJobResponse, error) {
	if err := s.checkRegistration(); err != nil {
		return nil, err
	}
	for attempt := 1; ; attempt++ {
		snap := s.store.Snapshot()
		stored, err := jobOf(snap, ns, id)
		if err != nil {
			return nil, err
		}
		if want := change.JobModifyIndex; want != 0 && want != stored.JobModifyIndex {
			return nil, api.Errorf(api.CodeConflict, "job %q was changed meanwhile: its job modify index is %d, not %d; check the change and try again",
				id, stored.JobModifyIndex, want)
		}
		resp, err := s.changeJob(ctx, snap, stored, change)
		if api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts || change.JobModifyIndex != 0 ||
			s.store.Snapshot().Job(stored.Namespace, stored.ID) == stored {
			return resp, err
		}
	}
}

// changeJob changes the job if it is still the one of the snapshot.
func (s *Server) changeJob(ctx context.Context, snap *state.Snapshot, stored *api.Job, change *api.JobChange) (*api.ChangeJobResponse, error) {
	if err := changeable(stored); err != nil {
		return nil, err
	}
	job, err := change.Apply(stored)
	if err != nil {
		return nil, err
	}
	if job, err = admitJob(snap, job, stored.Namespace); err != nil {
		return nil, err
	}
	// What only servers write stays.
	job.ParentID, job.Dispatched, job.DispatchIdempotencyToken, job.Payload = stored.ParentID, stored.Dispatched, stored.DispatchIdempotencyToken, stored.Payload
	if err := inPlace(stored, job); err != nil {
		return nil, err
	}
	for name, g := range change.Groups {
		if g != nil && g.Count != nil {
			count := int64(*g.Count)
			if _, err := scaledGroup(stored, &api.ScaleJobRequest{Count: &count, Target: map[string]string{"Group": name}}); err != nil {
				return nil, err
			}
		}
	}
	if api.SpecEqual(stored, job) {
		return &api.ChangeJobResponse{Version: stored.Version, JobModifyIndex: stored.JobModifyIndex, Index: stored.ModifyIndex}, nil
	}
	now := time.Now()
	job.SubmitTime = now.UnixNano()
	cmd := &state.RegisterJob{
		Job: job, Submission: snap.Submission(stored.Namespace, stored.ID, stored.Version),
		Evaluation: evaluationOf(job, api.TriggerJobRegister, 0, now), EnforceIndex: &stored.JobModifyIndex,
	}
	res, err := s.register(ctx, cmd, strings.Join(job.Warnings(), "\n"))
	if err != nil {
		return nil, err
	}
	return &api.ChangeJobResponse{
		Changed: true, Version: snap.NextVersion(stored), JobModifyIndex: res.JobModifyIndex,
		EvalID: res.EvalID, Warnings: res.Warnings, Index: res.Index,
	}, nil
}

func changeable(stored *api.Job) error {
	if stored.Stop {
		return api.Errorf(api.CodeConflict, "job %q is stopped: run it again instead of changing it", stored.ID)
	}
	return nil
}

// inPlace refuses a version that would restart something that runs.
func inPlace(stored, job *api.Job) error {
	fields := update.NeedRestart(stored, job)
	if len(fields) == 0 {
		return nil
	}
	return &api.Error{
		Code: api.CodeInvalid, Detail: fields,
		Message: "the change would need a restart, and nothing was changed; run the whole job instead, or leave out",
	}
}

// withoutRestart returns the request so that it is carried out only on the job
// that it was compared with.
func withoutRestart(req *api.RegisterJobRequest, job, stored *api.Job) (*api.RegisterJobRequest, error) {
	if stored == nil {
		return nil, api.Errorf(api.CodeNotFound, "job %q not found in namespace %q: there is nothing to change without a restart", job.ID, job.Namespace)
	}
	if err := changeable(stored); err != nil {
		return nil, err
	}
	if err := inPlace(stored, job); err != nil {
		return nil, err
	}
	guarded := *req
	if !req.EnforceIndex {
		guarded.EnforceIndex, guarded.JobModifyIndex = true, stored.JobModifyIndex
	}
	return &guarded, nil
}
