// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"fmt"
	"iter"
	"reflect"

	"github.com/reeve-run/reeve/api"
)

// isOrphaned reports whether the job is one that an orphan brought along: it
// was never registered here, so it has no index.
func isOrphaned(job *api.Job) bool { return job.CreateIndex == 0 }

// sharedOrphaned returns the job that orphans here brought along already if it
// says the same, else the job itself.
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

// OrphanCount is the number of orphans, ended ones too.
func (c *content) OrphanCount() int { return c.orphans }

// Orphans yields the orphans, ordered by id. It looks at nothing if there are
// none.
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

// countOrphans keeps their number when an allocation changes; nil is none.
func (c *content) countOrphans(old, new *api.Allocation) {
	if old != nil && old.Orphan {
		c.orphans--
	}
	if new != nil && new.Orphan {
		c.orphans++
	}
}
