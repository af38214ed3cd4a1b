// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// Run fills the broker from the store and keeps it current until ctx ends.
// The broker hands out nothing after that.
func (b *Broker) Run(ctx context.Context, store *state.Store) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.saveAll(ctx)
	}()
	err := feed.Follow(ctx, store,
		func(snap *state.Snapshot) { b.load(snap, time.Now()) },
		func(batch *state.Batch) { b.apply(batch, store.Snapshot, time.Now()) })
	<-done
	b.close()
	return err
}

// load fills the queues from a snapshot. Evaluations that are already known
// stay where they are.
func (b *Broker) load(snap *state.Snapshot, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.seen = snap.Index()
	classes := map[string]string{} // by node
	for n := range snap.Nodes() {
		classes[n.ID] = n.ComputedClass
		if n.IsReady() {
			b.q.changed(n.ComputedClass, n.ModifyIndex, now)
		}
	}
	for a := range snap.Allocations() {
		if !a.HoldsResources() {
			b.q.changed(classes[a.NodeID], a.ModifyIndex, now)
		}
	}
	for e := range snap.Evaluations() {
		b.put(e, now)
	}
	b.changed()
}

// apply takes in one batch of changes.
func (b *Broker) apply(batch *state.Batch, snapshot func() *state.Snapshot, now time.Time) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.seen = batch.Index
	freed := map[string]bool{} // nodes
	bounded := sync.OnceValue(func() bool { return snapshot().SchedulerConfig().MaxStartingPerNode > 0 })
	for i := range batch.Changes {
		switch c := &batch.Changes[i]; c.Table {
		case state.TableEvaluations:
			switch {
			case c.Op == state.Put:
				b.put(c.New.(*api.Evaluation), now)
			default:
				old := c.Old.(*api.Evaluation)
				b.q.forget(old.ID, old.JobKey(), now)
			}
		case state.TableAllocations:
			old, _ := c.Old.(*api.Allocation)
			if old == nil || !old.HoldsResources() {
				break
			}
			if a, _ := c.New.(*api.Allocation); a == nil || !a.HoldsResources() || old.IsStarting() && !a.IsStarting() && bounded() {
				freed[old.NodeID] = true
			}
		case state.TableNodes:
			if n, _ := c.New.(*api.Node); n != nil && n.IsReady() {
				b.q.changed(n.ComputedClass, batch.Index, now)
			}
		}
	}
	if len(freed) > 0 {
		snap := snapshot()
		for id := range freed {
			if n := snap.Node(id); n != nil {
				b.q.changed(n.ComputedClass, batch.Index, now)
			}
		}
	}
	b.changed()
}

// put files one evaluation by its status.
func (b *Broker) put(e *api.Evaluation, now time.Time) {
	switch e.Status {
	case api.EvalStatusPending:
		b.q.enqueue(e, now)
	case api.EvalStatusBlocked:
		if older := b.q.block(e, now); older != nil {
			b.cancel(older, now)
		}
	default:
		b.q.forget(e.ID, e.JobKey(), now)
	}
}

// saveAll stores what the broker ended, until ctx ends.
func (b *Broker) saveAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-b.saves:
		}
		b.mu.Lock()
		evals := b.unsaved
		b.unsaved = nil
		b.mu.Unlock()
		if err := b.cfg.Write(ctx, evals); err != nil && !errors.Is(err, context.Canceled) {
			b.cfg.Logger.Error("cannot store the end of evaluations", "evaluations", len(evals), "error", err)
		}
	}
}

func (b *Broker) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.closed = true
	if b.timer != nil {
		b.timer.Stop()
	}
	b.work.Broadcast()
}
