// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package broker

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// Run fills the broker from the store and keeps it current until ctx ends. The broker
// delivers nothing after that.
func (b *Broker) Run(ctx context.Context, store *state.Store) error {
	b.world.snapshot = store.Snapshot
	done := make(chan struct{})
	go func() {
		defer close(done)
		b.saveAll(ctx)
	}()
	err := feed.Follow(ctx, store,
		func(snap *state.Snapshot) { b.load(ctx, snap, time.Now()) },
		func(batch *state.Batch) { b.apply(ctx, batch, store.Snapshot(), time.Now()) })
	<-done
	b.close()
	return err
}

// load adds the content of a snapshot to the broker.
func (b *Broker) load(ctx context.Context, snap *state.Snapshot, now time.Time) {
	if b.cfg.Capacity != nil && b.cfg.Capacity.Wait(ctx, snap.Index()) != nil {
		return // the term ended
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.seen = snap.Index()
	b.q.paused = snap.SchedulerConfig().PauseEvalBroker
	for e := range snap.Evaluations() {
		b.file(e, now)
	}
	b.offerAll(snap, now)
	b.changed()
}

// offerAll offers the room of every node to the blocked evaluations that have not examined it
// since the node's last change, and wakes those that a change of something else may help. It does
// for a new leader what apply does for each change: after a restart, every node has
// changed, and to wake all evaluations for that would evaluate every job that waits.
func (b *Broker) offerAll(snap *state.Snapshot, now time.Time) {
	nodes := map[string]change{}
	for n := range snap.Nodes() {
		if n.IsReady() {
			nodes[n.ID] = change{n.ComputedClass, n.ModifyIndex}
		}
	}
	for a := range snap.Allocations() {
		if a.HoldsResources() {
			continue
		}
		if n, ok := nodes[a.NodeID]; ok && n.index < a.ModifyIndex {
			nodes[a.NodeID] = change{n.class, a.ModifyIndex}
		}
		if e := b.q.blocked.evaluationOf(a.JobKey()); e != nil && e.SnapshotIndex < a.ModifyIndex {
			b.q.wakeJob(a.JobKey(), now)
		}
	}
	everything := snap.SchedulerConfig().ModifyIndex
	for p := range snap.NodePools() {
		everything = max(everything, p.ModifyIndex)
	}
	b.q.wakeAll(everything, now)
	inOrder := slices.SortedFunc(maps.Keys(nodes), func(x, y string) int {
		return cmp.Or(cmp.Compare(nodes[x].index, nodes[y].index), cmp.Compare(x, y))
	})
	for _, id := range inOrder {
		b.q.changed(id, nodes[id].class, nodes[id].index, now)
	}
	b.q.offerAllQuotas(snap.Index(), now)
}

// apply applies the changes of one log entry. The snapshot contains the entry and perhaps
// later ones.
func (b *Broker) apply(ctx context.Context, batch *state.Batch, snap *state.Snapshot, now time.Time) {
	h := unblockEventsOf(batch, snap)
	if len(h.nodes) > 0 && b.cfg.Capacity != nil && b.cfg.Capacity.Wait(ctx, batch.Index) != nil {
		return // the term ended
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.q.seen = batch.Index
	for i := range batch.Changes {
		switch c := &batch.Changes[i]; c.Table {
		case state.TableEvaluations:
			switch {
			case c.Op == state.Put:
				b.file(c.New.(*api.Evaluation), now)
			default:
				old := c.Old.(*api.Evaluation)
				b.q.forget(old.ID, old.JobKey(), now)
			}
		case state.TableNodes:
			if c.Op == state.Delete {
				b.q.news.forget(c.Old.(*api.Node).ID)
			}
		case state.TableQuotas:
			if c.Op == state.Delete {
				delete(b.q.quotas, c.Old.(*api.Quota).Name)
			}
		case state.TableSchedulerConfig:
			b.q.paused = snap.SchedulerConfig().PauseEvalBroker
		}
	}
	if h.everything {
		b.q.wakeAll(batch.Index, now)
	}
	for job := range h.jobs {
		b.q.wakeJob(job, now)
	}
	for _, namespace := range h.quotas.namespaces {
		b.q.wakeLimited(namespace, batch.Index, now)
	}
	for _, name := range slices.Sorted(maps.Keys(h.quotas.quotas)) {
		b.q.quotaChanged(name, batch.Index, now)
	}
	for _, id := range h.nodes {
		if n := snap.Node(id); n != nil {
			b.q.changed(id, n.ComputedClass, batch.Index, now)
		}
	}
	b.changed()
}

// A unblockEvents holds the changes of a log entry that could help blocked evaluations.
type unblockEvents struct {
	nodes      []string                  // nodes that may have free room now
	jobs       map[api.NamespacedID]bool // jobs that lost an instance: rules among a job's own instances may now permit more
	everything bool                      // reports whether the scheduler's configuration or a node pool changed
	quotas     quotaEvents
}

func unblockEventsOf(batch *state.Batch, snap *state.Snapshot) (h unblockEvents) {
	starting := snap.SchedulerConfig().MaxStartingPerNode > 0
	seen := map[string]bool(nil)
	add := func(node string) {
		if seen[node] {
			return
		}
		if seen == nil {
			seen = map[string]bool{}
		}
		seen[node] = true
		h.nodes = append(h.nodes, node)
	}
	for i := range batch.Changes {
		h.quotas.addChange(&batch.Changes[i], snap)
		switch c := &batch.Changes[i]; c.Table {
		case state.TableAllocations:
			old, _ := c.Old.(*api.Allocation)
			a, _ := c.New.(*api.Allocation)
			switch {
			case old == nil || !old.HoldsResources():
			case a == nil || !a.HoldsResources():
				add(old.NodeID)
				if h.jobs == nil {
					h.jobs = map[api.NamespacedID]bool{}
				}
				h.jobs[old.JobKey()] = true
			case starting && old.IsStarting() && !a.IsStarting():
				add(old.NodeID)
			}
		case state.TableNodes:
			if n, _ := c.New.(*api.Node); n != nil && n.IsReady() {
				add(n.ID)
			}
		case state.TableSchedulerConfig, state.TableNodePools:
			h.everything = true
		}
	}
	return h
}

// file adds or removes one evaluation by its status.
func (b *Broker) file(e *api.Evaluation, now time.Time) {
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

// saveAll stores the evaluations that the broker ended, until ctx ends.
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
	b.spare.Broadcast()
}
