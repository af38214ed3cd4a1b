// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/server/remote"
	"github.com/reeve-run/reeve/internal/server/worker"
)

// followerPatience bounds the wait of a worker on a follower for the state of an evaluation.
// A follower that is further behind returns the evaluation.
const followerPatience = 2 * time.Second

// assistance is the workers of a server while it does not lead.
type assistance struct {
	cancel  context.CancelFunc
	running sync.WaitGroup
}

// assist starts workers for the leader's evaluations. It returns nil if this server has no
// workers, or no leader to call.
func (s *Server) assist(ctx context.Context) *assistance {
	if s.cfg.Workers <= 0 || s.cfg.CallLeader == nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	a := &assistance{cancel: cancel}
	tracker := fleet.New()
	queue := remote.NewFollower(remote.FollowerEnv{
		Store: s.store, Fleet: tracker, Logger: s.cfg.Logger, Types: s.types(), Call: s.cfg.CallLeader, Computed: s.meters.computed.Load,
	})
	env := worker.Env{
		Store: s.store, Queue: queue, Fleet: tracker, Logger: s.cfg.Logger, Patience: followerPatience, Follows: true,
		Timings: &s.meters.timings, Computed: &s.meters.computed,
	}
	var workers sync.WaitGroup
	for range s.cfg.Workers {
		workers.Go(func() { worker.Run(ctx, env) })
	}
	a.running.Go(func() { _ = tracker.Run(ctx, s.store) })
	a.running.Go(func() {
		queue.Run(ctx)
		workers.Wait()
		queue.Part()
	})
	return a
}

// stop tells the workers to end. A nil assistance has ended.
func (a *assistance) stop() {
	if a != nil {
		a.cancel()
	}
}

// end stops the workers and waits for them.
func (a *assistance) end() {
	a.stop()
	if a != nil {
		a.running.Wait()
	}
}

// types returns the types of jobs that the workers of this server process.
func (s *Server) types() broker.Types {
	if s.cfg.Workers <= 0 {
		return broker.NoTypes
	}
	return broker.TypesOf(s.cfg.JobTypes...)
}

// lendEvaluations returns the leader's side of the workers on other servers.
func (s *Server) lendEvaluations(ctx context.Context, t *term) *remote.Leader {
	return remote.NewLeader(ctx, remote.LeaderEnv{
		Store: s.store, Broker: t.broker, Applier: t.applier, Logger: s.cfg.Logger,
		Refused: func(placement.Refusal) { s.meters.refused.Add(1) },
	})
}

// PollEvaluations answers another server that asks for evaluations: see package remote.
func (s *Server) PollEvaluations(ctx context.Context, server string, body []byte) ([]byte, error) {
	t := s.term.Load()
	if t == nil || t.lender == nil {
		return nil, errNoLeader
	}
	return t.lender.Poll(ctx, server, body)
}

// AnswerEvaluations takes the results of another server's evaluations: see package remote.
func (s *Server) AnswerEvaluations(server string, body []byte) ([]byte, error) {
	t := s.term.Load()
	if t == nil || t.lender == nil {
		return nil, errNoLeader
	}
	return t.lender.Answer(server, body)
}

// computed returns the number of evaluations that a server has computed since it started.
func (t *term) computed(s *Server, m *api.ServerStatus) uint64 {
	switch {
	case m.ID == s.ServerID():
		return s.meters.computed.Load()
	case t.lender != nil:
		return t.lender.Computed(m.ID)
	}
	return 0
}
