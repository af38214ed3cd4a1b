// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// remembered is the time for which the router responds 503 for a route without
// instances, because an instance will probably come back. The catalog contains
// only routes with instances.
const remembered = 5 * time.Minute

// An applier computes tables from the catalog's updates. Only one goroutine uses
// it.
type applier struct {
	table     *table
	entries   map[string]*entry          // by allocation
	instances map[instanceKey]*instance  // by address
	empty     map[poolKey]*pool          // pools without instances
	listens   map[int]bool               // ports of TCP routes
	shares    map[string]*api.StackShare // stacks, by job
	jobs      map[string]map[poolKey]int // number of targets of each job in each pool
	directory *lifecycle.Directory       // stacks by unit
	tags      map[string]int             // number of stacks by tag
	stacks    map[string]*stackCounters  // by job; also of stacks whose instances left
}

// An entry is the latest version of an allocation in the catalog.
type entry struct {
	job     string
	targets map[poolKey][]target
}

func newApplier() *applier {
	return &applier{
		table: &table{}, entries: map[string]*entry{},
		instances: map[instanceKey]*instance{}, empty: map[poolKey]*pool{}, listens: map[int]bool{},
		shares: map[string]*api.StackShare{}, jobs: map[string]map[poolKey]int{}, stacks: map[string]*stackCounters{},
		directory: lifecycle.NewDirectory(), tags: map[string]int{},
	}
}

// A change is the effect of an update on one pool.
type change struct {
	leave map[string]bool // allocations
	join  []target
}

// apply computes the table after an update, and returns the instances that left.
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
			a.count(old.job, k, -len(targets))
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
	for _, job := range a.applyShares(u) {
		for k := range a.jobs[job] {
			if _, whole := jobOfStack(k); !whole {
				of(k)
			}
		}
	}
	pools := make(map[poolKey]*pool, len(changes))
	for k, c := range changes {
		pools[k] = a.changed(k, c, now)
	}
	a.replace(u.Index, pools, now)
	a.renew(a.directory.Apply(u), changes)
	for _, i := range maybe {
		k := instanceKey{i.alloc, i.address}
		if i.routes == 0 && a.instances[k] == i {
			delete(a.instances, k)
			left = append(left, i)
			i.stack.lost(now)
		}
	}
	return left
}

// add adds an allocation: its endpoints, and its address for callers of its stack.
func (a *applier) add(e *api.CatalogEntry) *entry {
	n := &entry{job: e.Namespace + "/" + e.JobID, targets: make(map[poolKey][]target, len(e.Endpoints))}
	for _, p := range e.Endpoints {
		if p == nil || p.Route == nil || p.Address == "" {
			continue
		}
		a.addTarget(n, e, p.Address, keyOf(p.Route), target{route: p.Route, weight: weightOf(p.Route), index: e.Index, exposure: p.Exposure})
	}
	if e.StackAddress != "" {
		for _, r := range stackRoutes {
			a.addTarget(n, e, e.StackAddress, keyOfStack(n.job, r.Protocol == api.RouteGRPC), target{route: r, weight: 1, index: e.Index})
		}
	}
	a.entries[e.AllocID] = n
	return n
}

// addTarget adds the instance at an address of an allocation to a pool.
func (a *applier) addTarget(n *entry, e *api.CatalogEntry, address string, key poolKey, t target) {
	k := instanceKey{e.AllocID, address}
	if t.instance = a.instances[k]; t.instance == nil {
		t.instance = newInstance(k, n.job)
		t.instance.stack = a.stackOf(e.Namespace, e.JobID)
		t.instance.stack.gained()
		a.instances[k] = t.instance
	}
	t.instance.routes++
	n.targets[key] = append(n.targets[key], t)
	a.count(n.job, key, 1)
}

// count notes how many targets a job has in a pool.
func (a *applier) count(job string, k poolKey, more int) {
	if a.jobs[job] == nil {
		a.jobs[job] = map[poolKey]int{}
	}
	if a.jobs[job][k] += more; a.jobs[job][k] <= 0 {
		delete(a.jobs[job], k)
	}
	if len(a.jobs[job]) == 0 {
		delete(a.jobs, job)
	}
}

// changed returns a pool after a change.
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
	var p *pool
	if _, whole := jobOfStack(k); whole {
		p = newPool(k, targets, counts)
	} else {
		p = newSharedPool(k, targets, counts, a.shares)
	}
	delete(a.empty, k)
	if len(targets) == 0 {
		p.emptied = now
		a.empty[k] = p
	}
	return p
}

// without copies targets without those that leave, with room for more. It uses
// binary search, because a pool may be large.
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

// expire removes expired pools, and reports whether it found any.
func (a *applier) expire(now time.Time) bool {
	pools := map[poolKey]*pool{}
	a.replace(a.table.index, pools, now)
	return len(pools) > 0
}

// replace computes the next table, without expired pools.
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
		case k.listen <= 0:
		case p == nil:
			delete(a.listens, k.listen)
		default:
			a.listens[k.listen] = true
		}
	}
}
