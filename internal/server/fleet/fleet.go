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

// Check says which of the allocations cannot be committed on the fleet as it
// is once it is at least as new as the index: see placement.Check.
func (f *Fleet) Check(ctx context.Context, index uint64, place []*api.Allocation, existing func(id string) *api.Allocation) (refused []placement.Refusal, err error) {
	err = f.at(ctx, index, func() { refused = placement.Check(f.fleet.Live(), place, existing) })
	return refused, err
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
	for _, a := range place {
		f.reserved[a.ID] = a
	}
	f.fleet.Reserve(place)
	f.view = nil
}

// Release gives back what was reserved and will not be written.
func (f *Fleet) Release(place []*api.Allocation) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, a := range place {
		delete(f.reserved, a.ID)
	}
	f.fleet.Release(place)
	f.view = nil
}
