// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package fleet keeps the leader's placement.Fleet current: with the placements of
// the change feed, and with those that the applier is writing. Workers place on it
// and the applier checks against it, so the two cannot disagree about a node's free
// resources.
package fleet

import (
	"context"
	"iter"
	"slices"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// A Tracker keeps a placement.Fleet current with a store. Its methods may be called
// from any goroutine.
type Tracker struct {
	mu       sync.Mutex
	fleet    *placement.Fleet // nil until Run has filled it
	view     *placement.View  // nil when the fleet changed since it was taken
	moved    chan struct{}    // closed when the index moves
	released func([]*api.Allocation)
	placed   [api.JobPriorityMax + 1]uint64 // index of the newest placement, by the job's priority

	turn sync.Mutex // to place; taken before mu
}

// New returns a tracker that Run has to fill.
func New() *Tracker { return &Tracker{moved: make(chan struct{})} }

// Run keeps the fleet current until ctx ends.
func (t *Tracker) Run(ctx context.Context, store *state.Store) error {
	return feed.Follow(ctx, store, t.start, t.apply)
}

func (t *Tracker) start(snap *state.Snapshot) {
	fresh := placement.NewFleet(snap)
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fleet != nil {
		for a := range t.fleet.Reserved() {
			if snap.Allocation(a.ID) == nil {
				fresh.Reserve([]*api.Allocation{a})
			}
		}
	}
	t.fleet = fresh
	t.move()
}

func (t *Tracker) apply(b *state.Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range b.Changes {
		switch c := &b.Changes[i]; c.Table {
		case state.TableAllocations, state.TableNodes:
			t.fleet.Change(c.Old, c.New)
			t.note(c, b.Index)
		}
	}
	t.fleet.SetIndex(b.Index)
	t.move()
}

// move lets everybody see what changed; the caller holds the lock.
func (t *Tracker) move() {
	t.view = nil
	close(t.moved)
	t.moved = make(chan struct{})
}

// View waits until the fleet is at least as new as the index, and returns it
// as it then is.
func (t *Tracker) View(ctx context.Context, index uint64) (v *placement.View, err error) {
	err = t.at(ctx, index, func() {
		if t.view == nil {
			t.view = t.fleet.View()
		}
		v = t.view
	})
	return v, err
}

// Claim calls place with a view that is at least as new as the index, and reserves the
// returned allocations before the next call. So workers of this server never place on the same
// capacity. Placement is a small part of an evaluation: the serialization costs far less than
// collisions would, because the best node for one worker is the best for all.
func (t *Tracker) Claim(ctx context.Context, index uint64, place func(*placement.View) []*api.Allocation) error {
	if _, err := t.View(ctx, index); err != nil { // waits before it is this one's turn
		return err
	}
	t.turn.Lock()
	defer t.turn.Unlock()
	v, err := t.View(ctx, index)
	if err != nil {
		return err
	}
	t.Reserve(place(v))
	return nil
}

// Settle checks allocations on a view that is at least as new as the index: see
// placement.Check. It atomically releases their claims and reserves the allocations that
// accept returns. others are the reservations of other placements.
func (t *Tracker) Settle(ctx context.Context, index uint64, claimed, place []*api.Allocation,
	existing func(id string) *api.Allocation, accept func(refused []placement.Refusal, others iter.Seq[*api.Allocation]) []*api.Allocation) error {
	var reserved []*api.Allocation
	err := t.at(ctx, index, func() {
		t.release(claimed)
		reserved = accept(placement.Check(t.fleet.Live(), place, existing), t.fleet.Reserved())
		t.reserve(reserved)
	})
	if err != nil {
		t.Release(claimed)
	} else if len(reserved) < len(claimed) && t.released != nil {
		t.released(claimed)
	}
	return err
}

// at waits until the fleet is at least as new as the index, and calls do with
// the lock held.
func (t *Tracker) at(ctx context.Context, index uint64, do func()) error {
	for {
		t.mu.Lock()
		if t.fleet != nil && t.fleet.Index() >= index {
			do()
			t.mu.Unlock()
			return nil
		}
		moved := t.moved
		t.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Reserve counts allocations that are being written, so that no other placement uses their
// capacity. The change feed replaces the reservation.
func (t *Tracker) Reserve(place []*api.Allocation) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.reserve(place)
}

func (t *Tracker) reserve(place []*api.Allocation) {
	if len(place) == 0 {
		return
	}
	t.fleet.Reserve(place)
	t.view = nil
}

// Reserved returns the allocations that are being placed or written.
func (t *Tracker) Reserved() []*api.Allocation {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fleet == nil {
		return nil
	}
	return slices.Collect(t.fleet.Reserved())
}

// Release releases reservations of allocations that will not be written.
func (t *Tracker) Release(place []*api.Allocation) {
	if len(place) == 0 {
		return
	}
	t.mu.Lock()
	held := t.release(place)
	t.mu.Unlock()
	if held && t.released != nil {
		t.released(place)
	}
}

// release reports whether any of them was reserved.
func (t *Tracker) release(place []*api.Allocation) (held bool) {
	if t.fleet != nil && t.fleet.Release(place) {
		t.move()
		return true
	}
	return false
}

// Free is what the node has left for allocations, as far as amounts go: those
// that are being written are taken from it. It is false for a node that takes
// no allocations.
func (t *Tracker) Free(nodeID string) (api.Usage, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fleet == nil {
		return api.Usage{}, false
	}
	v := t.fleet.Live()
	n := v.Node(nodeID)
	if n == nil || !n.IsReady() {
		return api.Usage{}, false
	}
	return n.Capacity().Sub(v.Used(nodeID)), true
}

// Wait returns once the fleet is at least as new as the index.
func (t *Tracker) Wait(ctx context.Context, index uint64) error { return t.at(ctx, index, func() {}) }

// OnRelease sets a function that receives released reservations. Call it before Run.
func (t *Tracker) OnRelease(released func([]*api.Allocation)) { t.released = released }
