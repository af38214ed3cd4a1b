// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"sync"
)

// waiters are those who wait for an entry or for a change of some tables. Each
// is woken only by what it waits for, so a thousand blocking queries on jobs
// sleep through a storm of allocations.
type waiters struct {
	mu  sync.Mutex
	all map[*waiter]struct{}
}

type waiter struct {
	tables tableSet // wakes when one of them changes
	index  uint64   // or, if not 0, when this entry is applied
	woken  chan struct{}
}

func (w *waiters) add(x *waiter) {
	x.woken = make(chan struct{})
	w.mu.Lock()
	if w.all == nil {
		w.all = make(map[*waiter]struct{})
	}
	w.all[x] = struct{}{}
	w.mu.Unlock()
}

func (w *waiters) remove(x *waiter) {
	w.mu.Lock()
	delete(w.all, x)
	w.mu.Unlock()
}

// wake wakes those who waited for the entry or for a change of the tables.
func (w *waiters) wake(index uint64, touched tableSet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for x := range w.all {
		if x.tables&touched != 0 || x.index != 0 && index >= x.index {
			delete(w.all, x)
			close(x.woken)
		}
	}
}

// Wait returns when the entry of that index is applied, or with ctx's error.
func (s *Store) Wait(ctx context.Context, index uint64) error {
	for s.Index() < index {
		x := &waiter{index: index}
		s.waiters.add(x)
		if s.Index() >= index { // applied before it was added
			s.waiters.remove(x)
			return nil
		}
		select {
		case <-x.woken:
		case <-ctx.Done():
			s.waiters.remove(x)
			return ctx.Err()
		}
	}
	return nil
}

// WaitChange returns the newest index of the tables once it is above after. If
// ctx ends first it returns the index as it is, with ctx's error.
func (s *Store) WaitChange(ctx context.Context, after uint64, tables ...Table) (uint64, error) {
	var set tableSet
	for _, t := range tables {
		set |= 1 << t
	}
	if len(tables) == 0 {
		set = 1<<tableCount - 1
	}
	for {
		if index := s.Snapshot().TableIndex(tables...); index > after {
			return index, nil
		}
		x := &waiter{tables: set}
		s.waiters.add(x)
		if index := s.Snapshot().TableIndex(tables...); index > after {
			s.waiters.remove(x)
			return index, nil
		}
		select {
		case <-x.woken:
		case <-ctx.Done():
			s.waiters.remove(x)
			return s.Snapshot().TableIndex(tables...), ctx.Err()
		}
	}
}
