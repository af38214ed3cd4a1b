// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// remembered is how long a route whose last instance left is answered with 503:
// it is more likely to come back than to be gone for good. The catalog only
// tells of instances, not of routes without any.
const remembered = 5 * time.Minute

// An applier turns the catalog's updates into tables. Only one goroutine uses
// it.
type applier struct {
	table     *table
	entries   map[string]*entry         // by allocation
	instances map[instanceKey]*instance // by address
	empty     map[poolKey]*pool         // those that are remembered
	listens   map[int]bool              // ports of TCP routes
}

// An entry is one allocation as the catalog told of it last.
type entry struct {
	job     string
	targets map[poolKey][]target
}

func newApplier() *applier {
	return &applier{
		table: &table{}, entries: map[string]*entry{},
		instances: map[instanceKey]*instance{}, empty: map[poolKey]*pool{}, listens: map[int]bool{},
	}
}

// A change is what an update does to one pool.
type change struct {
	leave map[string]bool // allocations
	join  []target
}

// apply makes the table after an update, and returns the instances that left.
func (a *applier) apply(u *api.CatalogUpdate, now time.Time) (left []*instance) {
	changes := map[poolKey]*change{}
	of := func(k poolKey) *change {
		c := changes[k]
		if c == nil {
			c = &change{leave: map[string]bool{}}
			changes[k] = c
		}
		return c
	}
	var maybe []*instance
	remove := func(id string) {
		old := a.entries[id]
		if old == nil {
			return
		}
		delete(a.entries, id)
		for k, targets := range old.targets {
			of(k).leave[id] = true
			for _, t := range targets {
				t.routes--
				maybe = append(maybe, t.instance)
			}
		}
	}
	if u.Complete {
		stays := make(map[string]bool, len(u.Entries))
		for _, e := range u.Entries {
			stays[e.AllocID] = true
		}
		for id := range a.entries {
			if !stays[id] {
				remove(id)
			}
		}
	}
	for _, id := range u.Removed {
		remove(id)
	}
	for _, e := range u.Entries {
		remove(e.AllocID)
		added := a.add(e)
		for k, targets := range added.targets {
			c := of(k)
			c.join = append(c.join, targets...)
		}
	}
	pools := make(map[poolKey]*pool, len(changes))
	for k, c := range changes {
		pools[k] = a.changed(k, c, now)
	}
	a.replace(u.Index, pools, now)
	for _, i := range maybe {
		k := instanceKey{i.alloc, i.address}
		if i.routes == 0 && a.instances[k] == i {
			delete(a.instances, k)
			left = append(left, i)
		}
	}
	return left
}

// add takes in an allocation.
func (a *applier) add(e *api.CatalogEntry) *entry {
	n := &entry{job: e.Namespace + "/" + e.JobID, targets: make(map[poolKey][]target, len(e.Endpoints))}
	for _, p := range e.Endpoints {
		if p == nil || p.Route == nil || p.Address == "" {
			continue
		}
		k := instanceKey{e.AllocID, p.Address}
		i := a.instances[k]
		if i == nil {
			i = newInstance(k, n.job)
			a.instances[k] = i
		}
		i.routes++
		key := keyOf(p.Route)
		n.targets[key] = append(n.targets[key], target{i, p.Route, weightOf(p.Route), e.Index})
	}
	a.entries[e.AllocID] = n
	return n
}

// changed is a pool after a change.
func (a *applier) changed(k poolKey, c *change, now time.Time) *pool {
	before := a.table.get(k)
	var targets []target
	counts := &counters{}
	if before != nil {
		counts = before.counts
		targets = without(before.targets, c.leave, len(c.join))
	}
	if len(c.join) > 4 {
		targets = append(targets, c.join...)
		slices.SortFunc(targets, byAllocation)
	} else {
		for _, t := range c.join {
			at, _ := slices.BinarySearchFunc(targets, t, byAllocation)
			targets = slices.Insert(targets, at, t)
		}
	}
	p := newPool(k, targets, counts)
	delete(a.empty, k)
	if len(targets) == 0 {
		p.emptied = now
		a.empty[k] = p
	}
	return p
}

// without copies targets without those that leave, with room for some more.
// They are found, and not looked for, because a pool may be large.
func without(targets []target, leave map[string]bool, more int) []target {
	kept := append(make([]target, 0, len(targets)+more), targets...)
	if len(leave) > 4 {
		return slices.DeleteFunc(kept, func(t target) bool { return leave[t.alloc] })
	}
	for id := range leave {
		from, _ := slices.BinarySearchFunc(kept, id, func(t target, id string) int { return strings.Compare(t.alloc, id) })
		to := from
		for to < len(kept) && kept[to].alloc == id {
			to++
		}
		kept = slices.Delete(kept, from, to)
	}
	return kept
}

func byAllocation(a, b target) int {
	return cmp.Or(strings.Compare(a.alloc, b.alloc), strings.Compare(a.address, b.address))
}

// expire forgets what is due without an update, and reports whether there was
// anything.
func (a *applier) expire(now time.Time) bool {
	pools := map[poolKey]*pool{}
	a.replace(a.table.index, pools, now)
	return len(pools) > 0
}

// replace makes the next table, without pools that have been empty for long.
func (a *applier) replace(index uint64, pools map[poolKey]*pool, now time.Time) {
	for k, p := range a.empty {
		if now.Sub(p.emptied) >= remembered {
			delete(a.empty, k)
			pools[k] = nil
		}
	}
	a.table = a.table.with(index, pools)
	for k, p := range pools {
		switch {
		case k.listen == 0:
		case p == nil:
			delete(a.listens, k.listen)
		default:
			a.listens[k.listen] = true
		}
	}
}
