// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"context"
	"sync"
)

// waiters holds the goroutines that wait for an entry or for a change of some tables. They
// are grouped by what they wait for. A thousand blocking queries on jobs therefore sleep
// through a storm of allocations and add no cost to it.
type waiters struct {
	mu      sync.Mutex
	tables  [maxTables]map[*waiter]struct{}
	entries map[*waiter]struct{}
}

type waiter struct {
	tables tableSet // wakes when one of these tables changes
	index  uint64   // if not 0, wakes when this entry is applied
	woken  chan struct{}
}

func (w *waiters) add(x *waiter) {
	x.woken = make(chan struct{})
	w.mu.Lock()
	defer w.mu.Unlock()
	w.each(x, func(set *map[*waiter]struct{}) {
		if *set == nil {
			*set = make(map[*waiter]struct{})
		}
		(*set)[x] = struct{}{}
	})
}

func (w *waiters) remove(x *waiter) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.each(x, func(set *map[*waiter]struct{}) { delete(*set, x) })
}

// each calls do with every set that contains x.
func (w *waiters) each(x *waiter, do func(set *map[*waiter]struct{})) {
	if x.index != 0 {
		do(&w.entries)
	}
	for t := range tableCount() {
		if x.tables.has(t) {
			do(&w.tables[t])
		}
	}
}

// wake wakes the waiters for the entry or for a change of the tables.
func (w *waiters) wake(index uint64, touched tableSet) {
	w.mu.Lock()
	defer w.mu.Unlock()
	wake := func(x *waiter) {
		w.each(x, func(set *map[*waiter]struct{}) { delete(*set, x) })
		close(x.woken)
	}
	for x := range w.entries {
		if index >= x.index {
			wake(x)
		}
	}
	for t := range tableCount() {
		if touched.has(t) {
			for x := range w.tables[t] {
				wake(x)
			}
		}
	}
}

func (w *waiters) len() (n int) {
	for _, set := range w.tables {
		n += len(set)
	}
	return n + len(w.entries)
}

// Wait returns when the entry with that index is applied, or returns ctx's error.
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

// WaitLog returns when the log is applied up to an entry, or returns ctx's error.
func (s *Store) WaitLog(ctx context.Context, entry uint64) error {
	for {
		v := s.published.Load()
		if v.index-v.ahead >= entry {
			return nil
		}
		if err := s.Wait(ctx, entry+v.ahead); err != nil {
			return err
		}
	}
}

// WaitChange waits until the newest index of the tables is above after, and returns it. If
// ctx ends first, it returns the current index with ctx's error.
func (s *Store) WaitChange(ctx context.Context, after uint64, tables ...Table) (uint64, error) {
	var set tableSet
	for _, t := range tables {
		set |= 1 << t
	}
	if len(tables) == 0 {
		set = 1<<tableCount() - 1
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
