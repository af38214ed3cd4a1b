// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
)

// Propose is how commands are written.
type Propose func(context.Context, ...state.Command) (uint64, []error, error)

// A Lead says whether a server leads.
type Lead struct {
	number uint64 // of the last leadership
	reign  atomic.Uint64
	ch     chan uint64
}

// Set begins or ends the server's leading.
func (l *Lead) Set(leads bool) {
	reign := uint64(0)
	if leads {
		l.number++
		reign = l.number
	}
	l.reign.Store(reign)
	l.ch <- reign
}

// disturbed is a journal in memory whose writes and leadership a test has in
// its hands.
type disturbed struct {
	journal
	lead *Lead
	wrap func(Propose) Propose
}

func (d *disturbed) ProposeEach(ctx context.Context, cmds ...state.Command) (uint64, []error, error) {
	return d.wrap(d.journal.ProposeEach)(ctx, cmds...)
}
func (d *disturbed) Reign() uint64           { return d.lead.reign.Load() }
func (d *disturbed) LeaderCh() <-chan uint64 { return d.lead.ch }

// NewDisturbed is New for a server in memory.
func NewDisturbed(cfg Config, wrap func(Propose) Propose) (*Server, *Lead, error) {
	s, err := New(cfg)
	if err != nil {
		return nil, nil, err
	}
	lead := &Lead{number: 1, ch: make(chan uint64)}
	lead.reign.Store(1)
	s.journal = &disturbed{journal: s.journal, lead: lead, wrap: wrap}
	return s, lead, nil
}

// ClockWasSetBack is what happens then.
func (s *Server) ClockWasSetBack(ctx context.Context, by time.Duration) { s.clockWasSetBack(ctx, by) }

// DryRun works an evaluation of the job out on the state and the fleet as they
// are, and changes nothing.
func (s *Server) DryRun(ctx context.Context, job *api.Job) (*plan.Result, *placement.Outcome, error) {
	snap := s.store.Snapshot()
	view, err := s.term.Load().fleet.View(ctx, snap.Index())
	if err != nil {
		return nil, nil, err
	}
	result, outcome := worker.Compute(snap, view, job, newEvaluation(job, api.TriggerJobRegister, time.Now()), time.Now())
	return result, outcome, nil
}

// Propose writes commands to the log.
func (s *Server) Propose(ctx context.Context, cmds ...state.Command) (uint64, error) {
	return s.propose(ctx, cmds...)
}
