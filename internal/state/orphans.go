// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/reeve-run/reeve/api"
)

// isOrphaned reports whether the job came with an orphan. Such a job was never registered
// here, so it has no index.
func isOrphaned(job *api.Job) bool { return job.CreateIndex == 0 }

// sharedOrphaned returns an equal job that earlier orphans brought, or else the job
// itself.
func (r *jobRow) sharedOrphaned(job *api.Job) *api.Job {
	for _, u := range r.used {
		if isOrphaned(u.job) && u.job.Version == job.Version && reflect.DeepEqual(u.job, job) {
			return u.job
		}
	}
	return job
}

// loadOrphan stores an orphan, whose job is written with it.
func (l *loader) loadOrphan(a *api.Allocation) error {
	if !isOrphaned(a.Job) {
		return fmt.Errorf("orphan %s has a job with an index", a.ID)
	}
	if err := checkJob(a.Job); err != nil {
		return err
	}
	_, job := l.editJob(a.Namespace, a.JobID)
	a.Job = job.sharedOrphaned(a.Job)
	return l.linkLoaded(a, job)
}

// OrphanCount returns the number of orphans, including ended ones.
func (c *content) OrphanCount() int { return c.orphans }

// Orphans yields the orphans, ordered by id. It is free without orphans.
func (c *content) Orphans() iter.Seq[*api.Allocation] {
	return func(yield func(*api.Allocation) bool) {
		if c.orphans == 0 {
			return
		}
		for a := range c.Allocations() {
			if a.Orphan && !yield(a) {
				return
			}
		}
	}
}

// countOrphans updates the number of orphans when an allocation changes. nil means no
// allocation.
func (c *content) countOrphans(old, new *api.Allocation) {
	if old != nil && old.Orphan {
		c.orphans--
	}
	if new != nil && new.Orphan {
		c.orphans++
	}
}
