// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package eventstream

import (
	"sync"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/state"
)

// cachedJobs is the number of jobs whose steps readers share.
const cachedJobs = 64

// A stepCache shares the steps of jobs among the readers of the topic Step. It has no steps
// that a batch which the hub has read may have changed.
type stepCache struct {
	source StepSource // nil: no job has steps

	mu   sync.Mutex
	seen uint64 // index of the last batch that the hub read
	jobs map[api.NamespacedID]*jobSteps
}

// load returns the steps of a job at a snapshot. If they are shared, nothing that the hub has
// read changed them since.
func (c *stepCache) load(v *state.Snapshot, job api.NamespacedID) *jobSteps {
	c.mu.Lock()
	steps := c.jobs[job]
	c.mu.Unlock()
	if steps != nil {
		return steps
	}
	if c.source == nil {
		return &jobSteps{index: v.Index()}
	}
	steps = &jobSteps{index: v.Index(), states: c.source(v, job)}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.seen > steps.index {
		return steps // a batch that the hub has read may have changed them
	}
	if c.jobs == nil {
		c.jobs = map[api.NamespacedID]*jobSteps{}
	}
	for other := range c.jobs {
		if len(c.jobs) < cachedJobs {
			break
		}
		delete(c.jobs, other)
	}
	c.jobs[job] = steps
	return steps
}

// drop removes the steps of jobs that a batch may change; nil: of all jobs.
func (c *stepCache) drop(index uint64, jobs map[api.NamespacedID]struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.seen = index
	if jobs == nil {
		clear(c.jobs)
	}
	for job := range jobs {
		delete(c.jobs, job)
	}
}
