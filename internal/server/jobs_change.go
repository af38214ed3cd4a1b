// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// RevertJob registers an older version of a job as its newest.
func (s *Server) RevertJob(ctx context.Context, req *api.RevertJobRequest) (*api.RegisterJobResponse, error) {
	if err := s.checkRegistration(); err != nil {
		return nil, err
	}
	snap := s.store.Snapshot()
	current, err := jobOf(snap, req.Namespace, req.JobID)
	if err != nil {
		return nil, err
	}
	if want := req.EnforcePriorVersion; want != nil && *want != current.Version {
		return nil, api.Errorf(api.CodeConflict, "job %q is at version %d, not at %d as the request expects",
			current.ID, current.Version, *want)
	}
	if req.JobVersion == current.Version {
		return nil, api.Errorf(api.CodeInvalid, "job %q is at version %d already: nothing to revert", current.ID, current.Version)
	}
	target := snap.JobVersion(current.Namespace, current.ID, req.JobVersion)
	if target == nil {
		return nil, api.Errorf(api.CodeNotFound, "job %q has no version %d; it has %s",
			current.ID, req.JobVersion, versionList(snap.JobVersions(current.Namespace, current.ID)))
	}
	now := time.Now()
	job := target.Copy()
	clearServerFields(job)
	job.ParentID, job.Dispatched, job.DispatchIdempotencyToken = current.ParentID, current.Dispatched, current.DispatchIdempotencyToken
	job.Payload = current.Payload
	job.SubmitTime = now.UnixNano()
	cmd := &state.RegisterJob{
		Job: job, Submission: snap.Submission(current.Namespace, current.ID, req.JobVersion),
		Evaluation:   evaluationOf(job, api.TriggerJobRegister, 0, now),
		EnforceIndex: &current.JobModifyIndex,
	}
	return s.register(ctx, cmd, "")
}

func versionList(versions []*api.Job) string {
	names := make([]string, 0, len(versions))
	for _, v := range versions {
		names = append(names, fmt.Sprint(v.Version))
	}
	return strings.Join(names, ", ")
}

// ScaleJob sets the count of one group, or only records an event when the
// request holds no count.
func (s *Server) ScaleJob(ctx context.Context, ns, id string, req *api.ScaleJobRequest) (*api.RegisterJobResponse, error) {
	if err := s.checkRegistration(); err != nil {
		return nil, err
	}
	job, err := jobOf(s.store.Snapshot(), ns, id)
	if err != nil {
		return nil, err
	}
	group, err := scaledGroup(job, req)
	if err != nil {
		return nil, err
	}
	now := time.Now()
	cmd := &state.ScaleJob{
		Namespace: job.Namespace, ID: job.ID, Group: group.Name, Count: req.Count,
		Event: &api.ScalingEvent{
			Count: req.Count, PreviousCount: int64(group.Size()), Error: req.Error,
			Message: req.Message, Meta: req.Meta, Time: now.UnixNano(),
		},
	}
	if req.Count != nil {
		cmd.Evaluation = evaluationOf(job, api.TriggerJobScale, 0, now)
	}
	if cmd.Evaluation != nil {
		cmd.Event.EvalID = &cmd.Evaluation.ID
	}
	if req.JobModifyIndex != 0 {
		cmd.EnforceIndex = &req.JobModifyIndex
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	res := &api.RegisterJobResponse{JobModifyIndex: index, Index: index}
	if req.Count == nil {
		res.JobModifyIndex = job.JobModifyIndex
	}
	if cmd.Evaluation != nil {
		res.EvalID, res.EvalCreateIndex = cmd.Evaluation.ID, index
	}
	return res, nil
}

// scaledGroup returns the group that the request means, if it may be scaled
// so.
func scaledGroup(job *api.Job, req *api.ScaleJobRequest) (*api.Group, error) {
	name := req.Target["Group"]
	group := job.Group(name)
	if group == nil {
		names := make([]string, 0, len(job.Groups))
		for _, g := range job.Groups {
			names = append(names, fmt.Sprintf("%q", g.Name))
		}
		if name == "" {
			return nil, api.Errorf(api.CodeInvalid, "the request names no group: set Target to {\"Group\": NAME}; job %q has %s",
				job.ID, strings.Join(names, ", "))
		}
		return nil, api.Errorf(api.CodeInvalid, "job %q has no group %q; it has %s", job.ID, name, strings.Join(names, ", "))
	}
	if req.Count == nil {
		return group, nil
	}
	if req.Error {
		return nil, api.Errorf(api.CodeInvalid, "Error and Count exclude each other: an event that reports an error changes no count")
	}
	switch count := *req.Count; {
	case job.Stop:
		return nil, api.Errorf(api.CodeInvalid, "job %q is stopped: run it again before scaling it", job.ID)
	case job.RunsOnEveryNode():
		return nil, api.Errorf(api.CodeInvalid, "job %q is of type %s: it runs once on every node and has no count", job.ID, job.Type)
	case count < 0:
		return nil, api.Errorf(api.CodeInvalid, "Count is %d; it must not be negative", count)
	case group.Scaling == nil:
		return group, nil
	case group.Scaling.Min != nil && count < *group.Scaling.Min:
		return nil, api.Errorf(api.CodeInvalid, "Count is %d; the scaling block of group %q allows no less than %d", count, name, *group.Scaling.Min)
	case group.Scaling.Max != nil && count > *group.Scaling.Max:
		return nil, api.Errorf(api.CodeInvalid, "Count is %d; the scaling block of group %q allows no more than %d", count, name, *group.Scaling.Max)
	}
	return group, nil
}

// EvaluateJob makes an evaluation of an unchanged job. forceReschedule also
// replaces failed allocations that wait for their next attempt, or have none
// left.
func (s *Server) EvaluateJob(ctx context.Context, ns, id string, forceReschedule bool) (*api.RegisterJobResponse, error) {
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, err
	}
	eval := evaluationOf(job, api.TriggerJobRegister, 0, time.Now())
	if eval == nil {
		return nil, api.Errorf(api.CodeInvalid, "job %q is periodic or parameterized: it only starts other jobs, which can be evaluated", job.ID)
	}
	var cmd state.Command = &state.PutEvaluations{Evaluations: []*api.Evaluation{eval}}
	if forceReschedule {
		var ids []string
		for a := range snap.AllocationsByJob(job.Namespace, job.ID) {
			if a.ClientStatus == api.AllocClientFailed && !a.IsServerTerminal() && a.NextAllocation == "" {
				ids = append(ids, a.ID)
			}
		}
		yes := true
		cmd = &state.SetTransition{
			AllocationIDs: ids, Transition: api.DesiredTransition{ForceReschedule: &yes},
			Evaluations: []*api.Evaluation{eval},
		}
	}
	index, err := s.propose(ctx, cmd)
	if err != nil {
		return nil, err
	}
	return &api.RegisterJobResponse{
		EvalID: eval.ID, EvalCreateIndex: index, JobModifyIndex: job.JobModifyIndex, Index: index,
	}, nil
}

// SetJobStability marks a version as one that may be reverted to, or not.
func (s *Server) SetJobStability(ctx context.Context, ns, id string, version uint64, stable bool) (uint64, error) {
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return 0, err
	}
	if snap.JobVersion(job.Namespace, job.ID, version) == nil {
		return 0, api.Errorf(api.CodeNotFound, "job %q has no version %d; it has %s",
			job.ID, version, versionList(snap.JobVersions(job.Namespace, job.ID)))
	}
	return s.propose(ctx, &state.SetJobStability{Namespace: job.Namespace, ID: job.ID, Version: version, Stable: stable})
}
