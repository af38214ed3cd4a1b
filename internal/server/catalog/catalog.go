// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

// Package catalog maintains a live index of all routable allocations, by allocation and by
// service. It is derived only from the state's change feed, so it is the same on every server.
//
// Readers get the current entries, wait for a service to change, or follow all changes. The
// cost of a change is independent of the number of followers: they share each message, and
// hold only a position in the recent history.
package catalog

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/catalogentry"
	"github.com/reeve-run/reeve/internal/server/feed"
	"github.com/reeve-run/reeve/internal/state"
)

// A Catalog is the picture. Run keeps it.
type Catalog struct {
	seen atomic.Uint64 // log index up to which it is true; 0: not begun

	mu       sync.RWMutex
	floor    uint64 // log index at which it was last made anew
	entries  btree.Map[string, *api.CatalogEntry]
	services btree.Map[string, *service] // by key
	names    uint64                      // log index at which a name or a tag last came or went
	gone     uint64                      // log index at which a name last went
	history  func() (cluster, timeline string)
	nodes    nodes
	shares   shares
	waiters  waiters
	past     past
}

// New returns an empty picture.
func New() *Catalog {
	c := &Catalog{history: func() (cluster, timeline string) { return "", "" }}
	c.past.init()
	return c
}

// Run keeps the picture true to the store until ctx ends.
func (c *Catalog) Run(ctx context.Context, store *state.Store) error {
	c.mu.Lock()
	c.history = func() (cluster, timeline string) {
		snap := store.Snapshot()
		return snap.ClusterID(), snap.Timeline()
	}
	c.mu.Unlock()
	return feed.Follow(ctx, store, c.start, c.apply)
}

// start makes the picture anew. What is not there any more may have gone at any
// time, so everything counts as changed.
func (c *Catalog) start(snap *state.Snapshot) {
	index := max(snap.Index(), 1)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.entries, c.services = btree.Map[string, *api.CatalogEntry]{}, btree.Map[string, *service]{}
	c.nodes.start(snap)
	c.shares.start(snap)
	c.floor, c.names, c.gone = index, index, index
	for a := range snap.Allocations() {
		if e := c.of(a); e != nil {
			c.put(e, e.Index)
		}
	}
	for s := range snap.Stacks("*") {
		if e := catalogentry.OfStack(s); e != nil {
			c.put(e, e.Index)
		}
	}
	c.floor, c.names, c.gone = index, index, index
	c.seen.Store(index)
	c.past.reset()
	c.waiters.wakeAll()
}

// apply takes over what one log entry changed.
func (c *Catalog) apply(b *state.Batch) {
	var touched []string
	locked := false
	lock := func() {
		if !locked {
			c.mu.Lock()
			locked = true
		}
	}
	for i := range b.Changes {
		change := &b.Changes[i]
		switch change.Table {
		case state.TableNodes, state.TableSchedulerConfig:
			lock()
			c.nodes.apply(change)
			continue
		case state.TableStacks, state.TableShifts, state.TableUnits:
			lock()
			c.shares.apply(change)
			if id := c.applyExternal(change, b.Index); id != "" {
				touched = append(touched, id)
			}
			continue
		case state.TableAllocations:
		default:
			continue
		}
		old, _ := change.Old.(*api.Allocation)
		a, _ := change.New.(*api.Allocation)
		if isUntouched(old, a) {
			continue
		}
		lock()
		var e *api.CatalogEntry
		id := ""
		if a != nil {
			id, e = a.ID, c.of(a)
		} else {
			id = old.ID
		}
		if c.set(id, e, b.Index) {
			touched = append(touched, id)
		}
	}
	if locked {
		touched = append(touched, c.move(b.Index)...)
	}
	c.seen.Store(b.Index)
	if locked {
		if came, shares := c.nodes.news(), c.shares.news(); len(touched)+len(came)+len(shares) > 0 {
			m := c.message(b.Index, touched)
			m.Nodes, m.Stacks = came, shares
			c.past.add(m)
		}
		c.mu.Unlock()
	}
	c.waiters.wakeSeen()
}

// applyExternal takes in a change of a stack outside of Reeve. It returns the id of the entry that
// changed, or "".
func (c *Catalog) applyExternal(change *state.Change, index uint64) string {
	old, _ := change.Old.(*api.Stack)
	s, _ := change.New.(*api.Stack)
	var e *api.CatalogEntry
	switch {
	case s != nil && s.IsExternal():
		e = catalogentry.OfStack(s)
	case s == nil && old != nil && old.IsExternal():
		s = old
	default:
		return ""
	}
	if !c.set(s.ID, e, index) {
		return ""
	}
	return s.ID
}

// of is an allocation's entry, with its zone; nil if no traffic may go to it.
func (c *Catalog) of(a *api.Allocation) *api.CatalogEntry {
	e := catalogentry.Of(a)
	if e != nil {
		e.Zone = c.nodes.zoneOf(e.NodeID)
		for _, r := range e.Services {
			r.Zone = e.Zone
		}
	}
	return e
}

// move gives entries of nodes that are in another zone now that one.
func (c *Catalog) move(index uint64) (touched []string) {
	if !c.nodes.haveMoved() {
		return nil
	}
	var moved []*api.CatalogEntry
	c.entries.Scan(func(_ string, e *api.CatalogEntry) bool {
		if zone := c.nodes.zoneOf(e.NodeID); zone != e.Zone {
			n := *e
			n.Zone, n.Services = zone, make([]*api.ServiceRegistration, len(e.Services))
			for i, r := range e.Services {
				s := *r
				s.Zone, s.ModifyIndex = zone, index
				n.Services[i] = &s
			}
			moved = append(moved, &n)
		}
		return true
	})
	for _, e := range moved {
		if c.set(e.AllocID, e, index) {
			touched = append(touched, e.AllocID)
		}
	}
	return touched
}

// isUntouched reports, cheaply, that a change of an allocation is none of its
// entry.
func isUntouched(old, a *api.Allocation) bool {
	is, was := a != nil && a.IsRoutable(), old != nil && old.IsRoutable()
	if !is || !was {
		return is == was
	}
	return old.Serving == a.Serving && old.Job == a.Job && old.AllocatedResources == a.AllocatedResources && old.NodeName == a.NodeName
}

// set puts an entry, or takes it out, and reports whether that changes anything.
func (c *Catalog) set(id string, e *api.CatalogEntry, index uint64) bool {
	old, _ := c.entries.Get(id)
	if catalogentry.IsSame(old, e) {
		return false
	}
	if e != nil {
		keepIndexes(e, old)
	}
	if old != nil {
		c.remove(old, e, index)
	}
	if e != nil {
		c.put(e, index)
	} else {
		c.entries.Delete(id)
	}
	return true
}

// keepIndexes has registrations that are as they were keep when they were
// changed.
func keepIndexes(e, old *api.CatalogEntry) {
	if old == nil {
		return
	}
	for i, r := range e.Services {
		for _, before := range old.Services {
			if catalogentry.IsSameService(r, before) {
				e.Services[i] = before
			}
		}
	}
}

// message tells of what was touched.
func (c *Catalog) message(index uint64, touched []string) *Message {
	if len(touched) > 1 {
		slices.Sort(touched)
		touched = slices.Compact(touched)
	}
	u := &api.CatalogUpdate{Index: index}
	for _, id := range touched {
		if e, ok := c.entries.Get(id); ok {
			u.Entries = append(u.Entries, e)
		} else {
			u.Removed = append(u.Removed, id)
		}
	}
	return &Message{CatalogUpdate: u}
}

// Entry returns an allocation's entry; nil if it is not routable.
func (c *Catalog) Entry(alloc string) *api.CatalogEntry {
	c.mu.RLock()
	defer c.mu.RUnlock()
	e, _ := c.entries.Get(alloc)
	return e
}

// Entries returns all entries by allocation id, and the index that they are of.
// They are the caller's to iterate, as long as it likes.
func (c *Catalog) Entries() (all *btree.Map[string, *api.CatalogEntry], index uint64) {
	c.mu.Lock() // Copy marks the original
	defer c.mu.Unlock()
	return c.entries.Copy(), c.seen.Load()
}
