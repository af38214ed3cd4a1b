// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/state"
)

// Instances returns a job's instances as they are now, and the index that they
// are of.
func (s *Server) Instances(_ context.Context, ns, id string) ([]*api.Instance, uint64, error) {
	snap := s.store.Snapshot()
	job, err := jobOf(snap, ns, id)
	if err != nil {
		return nil, 0, err
	}
	return plan.Instances(snap, job.Key(), job, time.Now()), snap.TableIndex(planTables...), nil
}

// InstanceVerb restarts, replaces, pauses or resumes an instance of a job.
func (s *Server) InstanceVerb(ctx context.Context, ns, id, name string, verb api.Verb, req *api.InstanceRequest) (*api.InstanceResponse, error) {
	if req == nil {
		req = &api.InstanceRequest{}
	}
	cmd, index, err := s.decide(ctx, ns, id, func(snap *state.Snapshot, job *api.Job, now time.Time) (*state.Decide, error) {
		d, err := plan.DecideInstance(snap, job, name, verb, req, now)
		if err != nil {
			return nil, err
		}
		return &state.Decide{Decision: d}, nil
	})
	if err != nil {
		return nil, err
	}
	d := s.stored(cmd.Decision)
	res := &api.InstanceResponse{Instance: name, Tasks: d.Tasks, Decision: d, Index: index}
	if job := s.store.Snapshot().Job(d.Namespace, d.JobID); len(res.Tasks) == 0 && job != nil {
		if g := job.Group(d.Group); g != nil {
			for _, t := range g.Tasks {
				res.Tasks = append(res.Tasks, t.Name)
			}
		}
	}
	if cmd.Evaluation != nil {
		res.EvalID = cmd.Evaluation.ID
	}
	return res, nil
}
