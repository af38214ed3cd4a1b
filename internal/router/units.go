// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package router

import (
	"hash/maphash"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// A unit holds the pools of the names of one unit's stacks. It is immutable, except for its
// counters, which all versions of a unit share.
type unit struct {
	place  lifecycle.Place
	roster *lifecycle.Roster
	ways   [2]way // of HTTP, and of gRPC
}

// A way holds the pools of one protocol.
type way struct {
	counts *counters
	steps  []step // in ascending order
}

// A step is the pool of callers that want a minor version above the previous step's and up to
// its own.
type step struct {
	want api.FeatureVersion
	pool *pool
}

// wayOf returns the index of a protocol in unit.ways.
func wayOf(grpc bool) int {
	if grpc {
		return 1
	}
	return 0
}

// find returns the pool of callers that want a feature version, or nil if no ready stack
// satisfies it.
func (w *way) find(want api.FeatureVersion) *pool {
	i, _ := slices.BinarySearchFunc(w.steps, want, func(s step, v api.FeatureVersion) int { return s.want.Compare(v) })
	if i == len(w.steps) || w.steps[i].want.Major != want.Major {
		return nil
	}
	return w.steps[i].pool
}

// hostOfStack begins the host in the key of a stack's own pool. No request has such a host.
const hostOfStack = "\x00"

// keyOfStack returns the key of the pool of all instances of a stack.
func keyOfStack(job string, grpc bool) poolKey { return poolKey{grpc: grpc, host: hostOfStack + job} }

// jobOfStack returns the stack of a key.
func jobOfStack(k poolKey) (job string, ok bool) {
	if !strings.HasPrefix(k.host, hostOfStack) {
		return "", false
	}
	return k.host[len(hostOfStack):], true
}

// splitJob returns the namespace and the stack of a job.
func splitJob(job string) (namespace, stack string) {
	i := strings.LastIndexByte(job, '/')
	return job[:max(i, 0)], job[i+1:]
}

// Routes of the port that callers of a stack use.
var stackRoutes = [2]*api.Route{{Protocol: api.RouteHTTP, Path: "/"}, {Protocol: api.RouteGRPC, Path: "/"}}

// unitShards is the number of shards of a table's units.
const unitShards = 64

func unitShard(p lifecycle.Place) int {
	return int((maphash.String(seed, p.Unit) ^ 31*maphash.String(seed, p.Namespace)) % unitShards)
}

func (t *table) unit(p lifecycle.Place) *unit { return t.units[unitShard(p)][p] }

// withUnits returns a table with changed units. A nil unit removes its place.
func (t *table) withUnits(changed map[lifecycle.Place]*unit) *table {
	next := *t
	copied := map[int]bool{}
	for p, u := range changed {
		i := unitShard(p)
		if !copied[i] {
			copied[i] = true
			next.units[i] = cloned(next.units[i])
		}
		if u == nil {
			delete(next.units[i], p)
		} else {
			next.units[i][p] = u
		}
	}
	return &next
}

// renew replaces the units whose stacks or instances have changed.
func (a *applier) renew(places []lifecycle.Place, keys map[poolKey]*change) {
	dirty := make(map[lifecycle.Place]bool, len(places))
	for _, p := range places {
		dirty[p] = true
	}
	for k := range keys {
		if job, ok := jobOfStack(k); ok {
			namespace, stack := splitJob(job)
			if name, _, _, ok := api.ParseStackName(stack); ok {
				dirty[lifecycle.Place{Unit: name, Namespace: lifecycle.NamespaceName(namespace)}] = true
			}
		}
	}
	if len(dirty) == 0 {
		return
	}
	changed := make(map[lifecycle.Place]*unit, len(dirty))
	tags := len(a.tags)
	for p := range dirty {
		before := a.table.unit(p)
		changed[p] = a.newUnit(p, before)
		a.countTags(changed[p], 1)
		a.countTags(before, -1)
	}
	a.table = a.table.withUnits(changed)
	if tags > 0 || len(a.tags) > 0 {
		a.table.tags = maps.Clone(a.tags)
	}
}

// newUnit returns the unit of a place, or nil if it has no stacks.
func (a *applier) newUnit(p lifecycle.Place, before *unit) *unit {
	roster := a.directory.At(p)
	if roster == nil {
		return nil
	}
	u := &unit{place: p, roster: roster}
	for i := range u.ways {
		w := &u.ways[i]
		w.counts = &counters{}
		if before != nil {
			w.counts = before.ways[i].counts
		}
		for _, major := range roster.Majors() {
			for _, minor := range roster.Minors(major) {
				want := api.FeatureVersion{Major: major, Minor: minor}
				choices, _ := roster.Resolve(want)
				if len(choices) > 0 {
					w.steps = append(w.steps, step{want, a.namedPool(u, want, choices, i == 1, w.counts)})
				}
			}
		}
	}
	return u
}

// namedPool returns the pool of a name that leads to one stack, or to the two of a shift.
func (a *applier) namedPool(u *unit, want api.FeatureVersion, choices []lifecycle.Choice, grpc bool, counts *counters) *pool {
	p := &pool{key: poolKey{grpc: grpc, host: hostOfStack}, counts: counts, unit: u.place, want: want}
	sum := 0.0
	for _, c := range choices {
		job := u.roster.Namespace + "/" + c.Stack.Stack
		of := a.table.get(keyOfStack(job, grpc))
		if of == nil || len(of.targets) == 0 {
			continue
		}
		sum += c.Share
		p.targets = append(p.targets, of.targets...)
		p.stacks = append(p.stacks, stackPool{job: job, upTo: sum, share: c.Share, pool: of})
	}
	return p
}

// countTags counts the tags of a unit's stacks.
func (a *applier) countTags(u *unit, more int) {
	if u == nil {
		return
	}
	for _, s := range u.roster.Stacks {
		for _, tag := range s.Tags {
			if a.tags[tag] += more; a.tags[tag] <= 0 {
				delete(a.tags, tag)
			}
		}
	}
}
