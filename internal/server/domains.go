// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// MarkDomain marks a domain as fresh from now on for as long as the request
// says: its owner vouches that the servers know all of its jobs.
func (s *Server) MarkDomain(ctx context.Context, name string, req *api.DomainRequest) (uint64, error) {
	if err := req.Validate(name); err != nil {
		return 0, err
	}
	c := &state.PutDomain{Domain: name}
	if ttl, err := api.ParseTTL(req.TTL); err != nil {
		return 0, err
	} else if ttl > 0 {
		c.FreshUntil = time.Now().Add(ttl).UnixNano()
	}
	return s.propose(ctx, c)
}

// EndFreshness makes a domain stale before its time.
func (s *Server) EndFreshness(ctx context.Context, name string) (uint64, error) {
	return s.propose(ctx, &state.EndFreshness{Domains: []string{name}})
}

// clockWasSetBack ends the freshness of domains that are fresh until a time: by
// the clock that was set they would be for longer than their consumers said.
// These mark them again.
func (s *Server) clockWasSetBack(ctx context.Context, by time.Duration) {
	var names []string
	for d := range s.store.Snapshot().Domains() {
		if !d.Stale && !d.FreshUntil.IsZero() {
			names = append(names, d.Name)
		}
	}
	s.cfg.Logger.Warn("the wall clock was set back: domains that were fresh until a time are stale until they are marked again", "by", by, "domains", names)
	if len(names) == 0 {
		return
	}
	if _, err := s.propose(ctx, &state.EndFreshness{Domains: names}); err != nil {
		s.cfg.Logger.Error("cannot end the freshness of domains after the wall clock was set back", "domains", names, "error", err)
	}
}
