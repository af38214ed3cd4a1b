// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package fleet keeps the leader's one picture of the nodes and of what is
// taken on each: what the change feed says is placed, and what the applier is
// just having written. Workers place on it, the applier checks against it, so
// the two cannot disagree about what a node has left.
package fleet

import (
	"context"
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// A Fleet follows a store. Its methods may be called from any goroutine.
type Fleet struct {
	mu       sync.Mutex
	fleet    *placement.Fleet // nil until Run has filled it
	view     *placement.View  // nil when the fleet changed since it was taken
	reserved map[string]*api.Allocation
	moved    chan struct{} // closed when the index moves
	released func([]*api.Allocation)

	turn sync.Mutex // to place; taken before mu
}

// New returns a fleet that Run has to fill.
func New() *Fleet {
	return &Fleet{reserved: map[string]*api.Allocation{}, moved: make(chan struct{})}
}

// Run keeps the fleet current until ctx ends.
func (f *Fleet) Run(ctx context.Context, store *state.Store) error {
	return feed.Follow(ctx, store, f.start, f.apply)
}

func (f *Fleet) start(snap *state.Snapshot) {
	fresh := placement.NewFleet(snap)
	f.mu.Lock()
	defer f.mu.Unlock()
	for id, a := range f.reserved {
		if snap.Allocation(id) != nil {
			delete(f.reserved, id)
		} else {
			fresh.Reserve([]*api.Allocation{a})
		}
	}
	f.fleet = fresh
	f.move()
}

func (f *Fleet) apply(b *state.Batch) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range b.Changes {
		switch c := &b.Changes[i]; c.Table {
		case state.TableAllocations:
			if a, _ := c.New.(*api.Allocation); a != nil {
				delete(f.reserved, a.ID)
			}
			f.fleet.Change(c.Old, c.New)
		case state.TableNodes:
			f.fleet.Change(c.Old, c.New)
		}
	}
	f.fleet.SetIndex(b.Index)
	f.move()
}

// move lets everybody see what changed; the caller holds the lock.
func (f *Fleet) move() {
	f.view = nil
	close(f.moved)
	f.moved = make(chan struct{})
}

// View waits until the fleet is at least as new as the index, and returns it
// as it then is.
func (f *Fleet) View(ctx context.Context, index uint64) (v *placement.View, err error) {
	err = f.at(ctx, index, func() {
		if f.view == nil {
			f.view = f.fleet.View()
		}
		v = f.view
	})
	return v, err
}

// Claim has an order placed on the fleet as it is once it is at least as new as
// the index, and reserves what place returns before anybody else's turn comes.
// So workers of this server never place on the same room. Placing is a small
// part of an evaluation: what the turns cost is far less than what collisions
// would, as the best node for one is the best for all.
func (f *Fleet) Claim(ctx context.Context, index uint64, place func(*placement.View) []*api.Allocation) error {
	if _, err := f.View(ctx, index); err != nil { // waits before it is this one's turn
		return err
	}
	f.turn.Lock()
	defer f.turn.Unlock()
	v, err := f.View(ctx, index)
	if err != nil {
		return err
	}
	f.Reserve(place(v))
	return nil
}

// Settle checks allocations on the fleet as it is once it is at least as new as
// the index: see placement.Check. Those that were claimed for them are given
// back, and what accept returns is reserved instead, in one go.
func (f *Fleet) Settle(ctx context.Context, index uint64, claimed, place []*api.Allocation,
	existing func(id string) *api.Allocation, accept func([]placement.Refusal) []*api.Allocation) error {
	var reserved []*api.Allocation
	err := f.at(ctx, index, func() {
		f.release(claimed)
		reserved = accept(placement.Check(f.fleet.Live(), place, existing))
		f.reserve(reserved)
	})
	if err != nil {
		f.Release(claimed)
	} else if len(reserved) < len(claimed) && f.released != nil {
		f.released(claimed)
	}
	return err
}

// at waits until the fleet is at least as new as the index, and calls do with
// the lock held.
func (f *Fleet) at(ctx context.Context, index uint64, do func()) error {
	for {
		f.mu.Lock()
		if f.fleet != nil && f.fleet.Index() >= index {
			do()
			f.mu.Unlock()
			return nil
		}
		moved := f.moved
		f.mu.Unlock()
		select {
		case <-moved:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Reserve counts allocations that are being written, so that nobody else
// places on what they take. The change feed takes them over.
func (f *Fleet) Reserve(place []*api.Allocation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.reserve(place)
}

func (f *Fleet) reserve(place []*api.Allocation) {
	if len(place) == 0 {
		return
	}
	for _, a := range place {
		f.reserved[a.ID] = a
	}
	f.fleet.Reserve(place)
	f.view = nil
}

// Release gives back what was reserved and will not be written.
func (f *Fleet) Release(place []*api.Allocation) {
	if len(place) == 0 {
		return
	}
	f.mu.Lock()
	held := f.release(place)
	f.mu.Unlock()
	if held && f.released != nil {
		f.released(place)
	}
}

// release reports whether any of them was reserved.
func (f *Fleet) release(place []*api.Allocation) (held bool) {
	for _, a := range place {
		if f.reserved[a.ID] != nil {
			delete(f.reserved, a.ID)
			held = true
		}
	}
	if held {
		f.fleet.Release(place)
		f.view = nil
	}
	return held
}

// Free is what the node has left for allocations, as far as amounts go: those
// that are being written are taken from it. It is false for a node that takes
// no allocations.
func (f *Fleet) Free(nodeID string) (api.Usage, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fleet == nil {
		return api.Usage{}, false
	}
	v := f.fleet.Live()
	n := v.Node(nodeID)
	if n == nil || !n.IsReady() {
		return api.Usage{}, false
	}
	return n.Capacity().Sub(v.Used(nodeID)), true
}

// Wait returns once the fleet is at least as new as the index.
func (f *Fleet) Wait(ctx context.Context, index uint64) error { return f.at(ctx, index, func() {}) }

// OnRelease has f called with what was reserved for nothing, from now on. It
// must be set before Run.
func (f *Fleet) OnRelease(released func([]*api.Allocation)) { f.released = released }
