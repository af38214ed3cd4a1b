// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// StopOptions say how an allocation is stopped.
type StopOptions struct {
	NoShutdownDelay bool
	Reschedule      bool // its replacement is one more attempt of the instance, elsewhere if that can be
}

// StopAllocation has an allocation stopped and, if its job still wants the
// instance, replaced.
func (s *Server) StopAllocation(ctx context.Context, id string, o StopOptions) (*api.StopAllocationResponse, error) {
	snap := s.store.Snapshot()
	alloc := snap.Allocation(id)
	if alloc == nil {
		return nil, api.Errorf(api.CodeNotFound, "allocation %q not found", id)
	}
	if alloc.IsTerminal() {
		return nil, api.Errorf(api.CodeInvalid, "allocation %s is not running: its desired status is %s, its node reports %s",
			alloc, alloc.DesiredStatus, alloc.ClientStatus)
	}
	job := snap.Job(alloc.Namespace, alloc.JobID)
	if job == nil {
		job = alloc.Job // purged: nothing replaces it
	}
	now := time.Now()
	yes := true
	transition := api.DesiredTransition{Migrate: &yes}
	if o.NoShutdownDelay {
		transition.NoShutdownDelay = &yes
	}
	if o.Reschedule {
		transition.Reschedule = &yes
	}
	eval := newEvaluation(job, api.TriggerAllocStop, now)
	index, err := s.propose(ctx, &state.SetTransition{
		AllocationIDs: []string{id}, Transition: transition, Evaluations: []*api.Evaluation{eval},
	})
	if err != nil {
		return nil, err
	}
	return &api.StopAllocationResponse{EvalID: eval.ID, Index: index}, nil
}
