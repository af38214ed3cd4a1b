// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package traffic

import (
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/latency"
)

const (
	// maxRouters bounds the routers whose last report is remembered.
	maxRouters = 10_000
	// routerKept is how long a silent router is remembered.
	routerKept = 10 * time.Minute
)

// counts are the requests to a stack since the leader's term began.
type counts struct {
	requests, errors uint64
	latency          latency.Counts
}

// since returns the difference to an earlier copy.
func (c *counts) since(before *counts) (d counts) {
	d.requests, d.errors = c.requests-before.requests, c.errors-before.errors
	for i := range d.latency {
		d.latency[i] = c.latency[i] - before.latency[i]
	}
	return d
}

func (c *counts) add(t *api.StackTraffic) {
	c.requests += t.Requests
	c.errors += t.Errors
	for _, l := range t.Latency {
		c.latency[latency.Bucket(l.Below-1)] += l.Count
	}
}

// A meter adds up the reports of all routers.
type meter struct {
	mu      sync.Mutex
	stacks  map[api.NamespacedID]*counts
	routers map[string]*seen
}

// seen is the last report of a router.
type seen struct {
	sequence uint64
	at       time.Time
}

func newMeter() *meter {
	return &meter{stacks: make(map[api.NamespacedID]*counts), routers: make(map[string]*seen)}
}

// add counts a report. It reports false for one that it has counted before. Stacks that
// are not known are ignored.
func (m *meter) add(r *api.TrafficReport, known func(api.NamespacedID) bool, now time.Time) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.isNew(r, now) {
		return false
	}
	for _, t := range r.Stacks {
		key := api.NamespacedID{Namespace: t.Namespace, ID: t.Stack}
		if !known(key) {
			delete(m.stacks, key)
			continue
		}
		c := m.stacks[key]
		if c == nil {
			c = &counts{}
			m.stacks[key] = c
		}
		c.add(t)
	}
	return true
}

// isNew notes the sequence of a report, and reports whether it is above that of the router's last one.
func (m *meter) isNew(r *api.TrafficReport, now time.Time) bool {
	last := m.routers[r.Router]
	if last == nil {
		m.makeRoom(now)
		last = &seen{}
		m.routers[r.Router] = last
	}
	last.at = now
	if r.Sequence <= last.sequence {
		return false
	}
	last.sequence = r.Sequence
	return true
}

// makeRoom forgets silent routers, and a tenth of all routers if there are too many: one at a time, reports with
// random ids would search all routers again and again.
func (m *meter) makeRoom(now time.Time) {
	if len(m.routers) < maxRouters {
		return
	}
	for id, s := range m.routers {
		if now.Sub(s.at) > routerKept {
			delete(m.routers, id)
		}
	}
	if len(m.routers) < maxRouters {
		return
	}
	for id := range m.routers {
		if len(m.routers) <= maxRouters-maxRouters/10 {
			return
		}
		delete(m.routers, id)
	}
}

// total returns a copy of a stack's counts.
func (m *meter) total(namespace, stack string) counts {
	m.mu.Lock()
	defer m.mu.Unlock()
	if c := m.stacks[api.NamespacedID{Namespace: namespace, ID: stack}]; c != nil {
		return *c
	}
	return counts{}
}

// keep forgets the stacks that are not known.
func (m *meter) keep(known func(api.NamespacedID) bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key := range m.stacks {
		if !known(key) {
			delete(m.stacks, key)
		}
	}
}
