// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// Client statuses, as indexes into groupCount.
const (
	countStarting = iota
	countRunning
	countComplete
	countFailed
	countLost
	countUnknown
	countCrashing // counted in addition to the others
	countFailing
	countKinds
)

// A groupCount holds the number of a group's allocations by client status.
type groupCount struct {
	group string
	life  uint64 // CreateIndex of their job, which differs after a purge and a new registration
	n     [countKinds]int32
}

func countKind(status string) int {
	switch status {
	case api.AllocClientRunning:
		return countRunning
	case api.AllocClientComplete:
		return countComplete
	case api.AllocClientFailed:
		return countFailed
	case api.AllocClientLost:
		return countLost
	case api.AllocClientUnknown:
		return countUnknown
	}
	return countStarting
}

// count adds an allocation to the row's counts (by +1) or removes it (-1).
func (r *jobRow) count(a *api.Allocation, by int) {
	if !a.IsTerminal() {
		r.live += by
	}
	r.useVersion(a.Job, by)
	var life uint64
	if a.Job != nil {
		life = a.Job.CreateIndex
	}
	for i := range r.groups {
		if g := &r.groups[i]; g.group == a.Group && g.life == life {
			if g.count(a, int32(by)); g.n == [countKinds]int32{} {
				r.groups = slices.Delete(r.groups, i, i+1)
			}
			return
		}
	}
	g := groupCount{group: a.Group, life: life}
	g.count(a, int32(by))
	r.groups = append(r.groups, g)
}

func (g *groupCount) count(a *api.Allocation, by int32) {
	g.n[countKind(a.ClientStatus)] += by
	if a.IsCrashing() {
		g.n[countCrashing] += by
	}
	if a.IsFailing() {
		g.n[countFailing] += by
	}
}

// Statuses of child jobs, as indexes into jobRow.children.
const (
	childPending = iota
	childRunning
	childDead
)

func childKind(status string) int {
	switch status {
	case api.JobStatusRunning:
		return childRunning
	case api.JobStatusDead:
		return childDead
	}
	return childPending
}

// countChild updates the parent's count of children by status.
func (t *txn) countChild(job *api.Job, by int) {
	if job == nil || job.ParentID == "" {
		return
	}
	slot, parent := t.editJob(job.Namespace, job.ParentID)
	parent.children[childKind(job.Status)] += by
	parent.summarized = t.index
	if by < 0 {
		t.dropJob(slot)
	}
}

// JobSummary counts the allocations of a job by group and client status. It returns nil if
// the job does not exist. It counts only stored allocations, without those that were
// collected. For a job that was purged and registered again, it excludes allocations that
// ended before.
func (c *content) JobSummary(namespace, id string) *api.JobSummary {
	r := c.job(namespace, id)
	if r == nil || r.job == nil {
		return nil
	}
	s := &api.JobSummary{
		JobID: id, Namespace: namespace,
		Summary:     make(map[string]api.GroupSummary, len(r.job.Groups)),
		CreateIndex: r.job.CreateIndex, ModifyIndex: r.summarized,
	}
	for _, g := range r.job.Groups {
		s.Summary[g.Name] = api.GroupSummary{Queued: r.queued[g.Name]}
	}
	for _, g := range r.groups {
		sum, known := s.Summary[g.group]
		before := sum
		g.addTo(&sum, r.job.CreateIndex)
		if !known && sum == before {
			continue // ended allocations of a group that the job no longer has
		}
		sum.Queued = r.queued[g.group]
		s.Summary[g.group] = sum
	}
	if r.job.IsPeriodic() || r.job.IsParameterized() {
		children := r.childrenSummary()
		s.Children = &children
		if l := r.schedule; l != nil {
			s.Launches = &api.JobLaunches{LastDue: unixNano(l.Last), LastSkipped: unixNano(l.Skipped)}
		}
	}
	return s
}

// hold records on the job whether an operator holds it, according to an evaluation.
func (t *txn) hold(slot uint32, e *api.Evaluation) {
	row := *t.jobs.rows.at(slot)
	if e.QueuedAllocations == nil || row.job == nil || row.job.HeldReason == e.Held {
		return
	}
	job := *row.job
	job.Held, job.HeldReason = e.Held != "", e.Held
	job.ModifyIndex = t.index
	t.replaceJob(slot, &job)
}

// queue records the number of instances that an evaluation could not place.
func (t *txn) queue(row *jobRow, e *api.Evaluation) {
	if e.QueuedAllocations == nil || row.job == nil || maps.Equal(row.queued, e.QueuedAllocations) {
		return
	}
	row.queued = e.QueuedAllocations
	row.summarized = t.index
	t.touch(TableJobs)
}
