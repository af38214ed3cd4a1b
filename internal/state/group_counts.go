// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"iter"

	"github.com/reeve-run/reeve/api"
)

// A GroupCount is the summary of one group of a job.
type GroupCount struct {
	Job   *api.Job
	Group *api.Group
	api.GroupSummary
	Live bool // reports whether the job has allocations that may run
}

// IsActive reports whether the group has instances that run or are to run.
func (g *GroupCount) IsActive() bool { return g.Live || g.Queued > 0 }

// groupCount returns the summary of one of the job's groups.
func (r *jobRow) groupCount(g *api.Group) GroupCount {
	c := GroupCount{Job: r.job, Group: g, Live: r.live > 0}
	r.sum(g.Name, &c.GroupSummary)
	return c
}

// GroupCounts yields a summary of each group of each job, ordered by namespace, job and position. The
// numbers are those of JobSummary, without those of groups that the job no longer has.
// The yielded value is valid until the next one.
func (c *content) GroupCounts() iter.Seq[*GroupCount] {
	return func(yield func(*GroupCount) bool) {
		var out GroupCount
		c.jobs.prefix("", func(_ string, r **jobRow) bool {
			row := *r
			if row.job == nil {
				return true
			}
			for _, g := range row.job.Groups {
				out = row.groupCount(g)
				if !yield(&out) {
					return false
				}
			}
			return true
		})
	}
}

// sum adds the counts of a group to its summary.
func (r *jobRow) sum(group string, sum *api.GroupSummary) {
	sum.Queued = r.queued[group]
	for i := range r.groups {
		if g := &r.groups[i]; g.group == group {
			g.addTo(sum, r.job.CreateIndex)
		}
	}
}

// addTo adds the counts to a summary of the job that was created at an index. Allocations of an earlier
// job with the same name count only while they may run.
func (g *groupCount) addTo(sum *api.GroupSummary, created uint64) {
	n := g.n
	if g.life != created && g.life != 0 { // 0: orphans
		n[countComplete], n[countFailed], n[countLost], n[countCrashing], n[countFailing] = 0, 0, 0, 0, 0
	}
	sum.Starting += int(n[countStarting])
	sum.Running += int(n[countRunning])
	sum.Complete += int(n[countComplete])
	sum.Failed += int(n[countFailed])
	sum.Lost += int(n[countLost])
	sum.Unknown += int(n[countUnknown])
	sum.Crashing += int(n[countCrashing])
	sum.Failing += int(n[countFailing])
}
