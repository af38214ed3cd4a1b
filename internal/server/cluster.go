// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"fmt"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// SetSchedulerConfig stores the scheduler's configuration. Absent settings keep their values.
// If enforceIndex is not nil and differs from the stored modify index, it returns
// CodeConflict.
func (s *Server) SetSchedulerConfig(ctx context.Context, req *api.SetSchedulerConfigRequest, enforceIndex *uint64) (uint64, error) {
	for attempt := 1; ; attempt++ {
		stored := s.store.Snapshot().SchedulerConfig()
		if enforceIndex != nil && *enforceIndex != stored.ModifyIndex {
			return 0, state.SchedulerConfigChanged(stored, *enforceIndex)
		}
		config := req.Over(stored)
		if err := config.Validate(); err != nil {
			return 0, err
		}
		index, err := s.propose(ctx, &state.SetSchedulerConfig{Config: config, EnforceIndex: &stored.ModifyIndex})
		if enforceIndex != nil || api.CodeOf(err) != api.CodeConflict || attempt == changeAttempts {
			return index, err
		}
	}
}

// PutNodePool stores a node pool, new or changed.
func (s *Server) PutNodePool(ctx context.Context, pool *api.NodePool) (uint64, error) {
	if err := pool.Validate(); err != nil {
		return 0, err
	}
	return s.propose(ctx, &state.PutNodePool{Pool: pool})
}

// DeleteNodePool forgets a node pool that has neither nodes nor jobs.
func (s *Server) DeleteNodePool(ctx context.Context, name string) (uint64, error) {
	return s.propose(ctx, &state.DeleteNodePool{Pool: name})
}

// checkRegistration refuses what changes jobs while that is switched off.
func (s *Server) checkRegistration() error {
	if s.store.Snapshot().SchedulerConfig().RejectJobRegistration {
		return api.Errorf(api.CodeForbidden,
			"register job: the scheduler's configuration rejects registrations; an operator can set RejectJobRegistration to false")
	}
	return nil
}

// checkPool refuses a job in a pool that there is not: it would wait for ever.
func checkPool(snap *state.Snapshot, job *api.Job) error {
	if snap.NodePool(job.NodePool) != nil {
		return nil
	}
	var names []string
	for p := range snap.NodePools() {
		names = append(names, fmt.Sprintf("%q", p.Name))
	}
	return api.Errorf(api.CodeInvalid, "node_pool: there is no node pool %q; there are %s. A pool is made by \"node pool apply\", or by a node that names it",
		job.NodePool, strings.Join(names, ", "))
}
