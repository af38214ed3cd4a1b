// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package applier

import (
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
)

// recent records which jobs have a placement in flight, and the index of each job's last
// committed placement: see invariant 3.
type recent struct {
	mu      sync.Mutex
	flying  map[api.NamespacedID]bool
	newer   map[api.NamespacedID]uint64 // index of the last placement
	older   map[api.NamespacedID]uint64 // the same, from before rotated
	rotated time.Time
}

// recentFor is the minimum time for which a placement is remembered. A worker loses its
// delivery long before its snapshot is this old.
const recentFor = 5 * time.Minute

func newRecent() *recent {
	return &recent{
		flying: map[api.NamespacedID]bool{}, newer: map[api.NamespacedID]uint64{},
		older: map[api.NamespacedID]uint64{}, rotated: time.Now(),
	}
}

// begin reports whether a placement based on the snapshot may proceed. If so, begin marks
// its job as in flight.
func (r *recent) begin(job api.NamespacedID, snapshot uint64) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.flying[job] || r.newer[job] > snapshot || r.older[job] > snapshot {
		return false
	}
	r.flying[job] = true
	return true
}

// end records that the job's placement was committed at the index, or not at all if index
// is 0.
func (r *recent) end(job api.NamespacedID, index uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.flying, job)
	if index > 0 {
		r.newer[job] = index
	}
	if now := time.Now(); now.Sub(r.rotated) > recentFor {
		r.newer, r.older, r.rotated = map[api.NamespacedID]uint64{}, r.newer, now
	}
}
