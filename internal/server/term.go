// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/applier"
	"github.com/reeve-run/reeve/internal/server/autopilot"
	"github.com/reeve-run/reeve/internal/server/broker"
	"github.com/reeve-run/reeve/internal/server/callback"
	"github.com/reeve-run/reeve/internal/server/control"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/server/remote"
	"github.com/reeve-run/reeve/internal/server/replica"
	"github.com/reeve-run/reeve/internal/server/traffic"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
)

// term is what exists only while this server leads. A new term begins with
// empty hands: all it needs to know is in the state.
type term struct {
	broker     *broker.Broker
	fleet      *fleet.Tracker
	applier    *applier.Applier
	rejections *rejections
	traffic    *traffic.Traffic
	autopilot  *autopilot.Autopilot // nil: the only server
	lender     *remote.Leader       // nil: the only server
	clocks     clocks
	cancel     context.CancelFunc
	running    sync.WaitGroup
}

// beginAgain is how long a server that could not begin to lead waits.
const beginAgain = time.Second

// followLeadership begins and ends terms until ctx ends.
func (s *Server) followLeadership(ctx context.Context, led func()) {
	defer s.endTerm()
	helping := s.assist(ctx) // while this server does not lead
	defer func() { helping.end() }()
	reign, current := s.journal.Reign(), uint64(0) // of the term that runs
	for {
		var again <-chan time.Time
		if current != 0 && current != reign {
			// Also if this server leads again: another one may have led in between, and have
			// heard what this term did not.
			s.endTerm()
			current = 0
		}
		if reign == 0 && helping == nil {
			helping = s.assist(ctx)
		}
		if reign != 0 && current == 0 {
			helping.stop()
			if err := s.beginTerm(ctx); err == nil {
				current = reign
				led()
			} else {
				if ctx.Err() == nil {
					s.cfg.Logger.Error("cannot start to lead", "error", err)
				}
				again = time.After(beginAgain)
			}
			helping.end()
			helping = nil
		}
		select {
		case <-ctx.Done():
			return
		case reign = <-s.journal.LeaderCh():
		case r := <-s.restorations:
			if current == 0 {
				r.done <- restored{err: errNoLeader}
				continue
			}
			s.endTerm()
			current = 0
			index, err := s.propose(ctx, r.command)
			if beginErr := s.beginTerm(ctx); beginErr == nil {
				current = reign
			} else if ctx.Err() == nil {
				s.cfg.Logger.Error("cannot start to lead after a restore", "error", beginErr)
			}
			r.done <- restored{index, err}
		case <-again:
		}
	}
}

// beginTerm starts leading, once everything that earlier leaders wrote is
// applied.
func (s *Server) beginTerm(ctx context.Context) error {
	if err := s.journal.Barrier(ctx); err != nil {
		return err
	}
	if s.store.Snapshot().ClusterID() == "" {
		if _, err := s.propose(ctx, &state.BeginCluster{ID: api.NewID(), Time: time.Now().UnixNano()}, s.newestLevel()); err != nil {
			return err
		}
	}
	if err := s.discardParts(ctx); err != nil {
		return err
	}
	if _, err := s.propose(ctx, &state.BeginTimeline{ID: api.NewID()}); err != nil {
		return err
	}
	if err := s.foundCluster(ctx); err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	t := &term{cancel: cancel, fleet: fleet.New(), traffic: traffic.New(ctx, s.cfg.GateTransport)}
	t.broker = broker.New(broker.Config{
		Logger: s.cfg.Logger, Capacity: t.fleet, Types: s.types(),
		Write: func(ctx context.Context, evals []*api.Evaluation) error {
			_, err := s.propose(ctx, &state.PutEvaluations{Evaluations: evals})
			return err
		},
	})
	t.fleet.OnRelease(t.broker.Released)
	t.applier = applier.New(applier.Env{
		Store: s.store, Fleet: t.fleet, Propose: s.proposeEach, Logger: s.cfg.Logger, Checks: &s.meters.checks,
	})
	t.rejections = newRejections(s)
	env := worker.Env{
		Store: s.store, Queue: worker.Local{Broker: t.broker, Applier: t.applier}, Fleet: t.fleet, Logger: s.cfg.Logger,
		Over: replica.ErrNotLeading, Rejected: t.rejections.add, Timings: &s.meters.timings, Computed: &s.meters.computed,
	}
	s.heartbeats.Lead(time.Now())
	s.locks.Lead()
	s.reportOrder.clear()
	t.running.Go(func() { s.heartbeats.Watch(ctx) })
	t.running.Go(func() {
		control.WatchClock(ctx, control.MachineClock, func(by time.Duration) { s.clockWasSetBack(ctx, by) })
	})
	t.running.Go(func() { _ = t.fleet.Run(ctx, s.store) })
	t.running.Go(func() { _ = t.broker.Run(ctx, s.store) })
	t.running.Go(func() { t.applier.Run(ctx) })
	t.running.Go(func() { t.rejections.run(ctx) })
	for range s.cfg.Workers {
		t.running.Go(func() { worker.Run(ctx, env) })
	}
	if s.cfg.Workers <= 0 {
		s.cfg.Logger.Warn("this server leads and computes no evaluations: other servers must", "num_schedulers", 0)
	}
	t.running.Go(func() {
		control.Run(ctx, control.Env{
			Store: s.store, Logger: s.cfg.Logger,
			Propose: func(ctx context.Context, cmds ...state.Command) ([]error, error) {
				_, errs, err := s.proposeEach(ctx, cmds...)
				return errs, err
			},
		},
			control.NewRollout(), control.NewHeartbeat(s.heartbeats, s.cfg.Logger), control.NewArrival(), control.NewDrain(),
			control.NewPeriodic(), control.NewPending(), control.NewConverge(), control.NewRenderings(), control.NewGC(s.cfg.GC), control.NewUninstalled(), control.NewTokens(),
			control.NewRootKeys(s, s.cfg.Logger), control.NewLockExpiry(s.locks),
			control.NewStacks(), control.NewShifts(t.traffic), control.NewSweep(s.cfg.SweepInterval, s.observedUses))
	})
	t.running.Go(func() {
		callback.Run(ctx, callback.Env{
			Store: s.store, Logger: s.cfg.Logger, Transport: s.cfg.CallbackTransport,
			Propose: func(ctx context.Context, cmds ...state.Command) error {
				_, err := s.propose(ctx, cmds...)
				return err
			},
		})
	})
	if s.cfg.Member != nil {
		t.running.Go(func() { s.followRotation(ctx) })
	}
	if s.store.Snapshot().Level() < state.Level {
		t.running.Go(func() { s.raiseLevel(ctx) })
	}
	if s.cfg.Backup.LeaderOnly {
		t.running.Go(func() { s.backups.Run(ctx) })
	}
	if s.cfg.Transport != nil {
		t.autopilot, t.lender = s.newAutopilot(), s.lendEvaluations(ctx, t)
		t.running.Go(func() { t.autopilot.Run(ctx) })
		t.running.Go(t.lender.Run)
		if s.cfg.Member != nil {
			t.running.Go(func() { s.compareClocks(ctx, &t.clocks) })
		}
	}
	s.term.Store(t)
	return nil
}

// endTerm stops leading and waits until nothing of the term runs.
func (s *Server) endTerm() {
	if t := s.term.Swap(nil); t != nil {
		t.cancel()
		t.running.Wait()
		t.traffic.Wait()
	}
}
