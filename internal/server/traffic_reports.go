// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
	"github.com/reeve-run/reeve/internal/server/traffic"
	"github.com/reeve-run/reeve/internal/state"
)

// TakeTraffic takes in the report of a router.
func (s *Server) TakeTraffic(r *api.TrafficReport) (*api.TrafficResponse, error) {
	if err := traffic.Validate(r); err != nil {
		return nil, err
	}
	snap := s.store.Snapshot()
	if r.Node != "" {
		if _, err := registered(snap, r.Node); err != nil {
			return nil, err
		}
	}
	t := s.term.Load()
	if t == nil {
		return nil, errNoLeader
	}
	return &api.TrafficResponse{Term: t.traffic.Take(snap, r, time.Now())}, nil
}

// WithTraffic returns a running shift with the figures of the last seconds.
func (s *Server) WithTraffic(shift *api.Shift) *api.Shift {
	t := s.term.Load()
	if t == nil || shift == nil || !shift.IsActive() {
		return shift
	}
	c := shift.Copy()
	c.Traffic = t.traffic.Figures(shift, time.Now())
	return c
}

// observedUses returns the undeclared callers of stacks that this leader knows.
func (s *Server) observedUses(snap *state.Snapshot) []lifecycle.Use {
	if t := s.term.Load(); t != nil {
		return t.traffic.Uses(snap, time.Now())
	}
	return nil
}
