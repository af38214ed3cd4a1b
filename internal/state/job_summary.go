// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"

	"github.com/reeve-run/reeve/api"
)

// Client statuses, as positions in groupCount.
const (
	countStarting = iota
	countRunning
	countComplete
	countFailed
	countLost
	countUnknown
	countCrashing // these two beside the others
	countFailing
	countKinds
)

// groupCount is how many of a group's allocations have each client status.
type groupCount struct {
	group string
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

// count adds an allocation to the row's counts (by +1) or takes it out (-1).
func (r *jobRow) count(a *api.Allocation, by int) {
	if !a.IsTerminal() {
		r.live += by
	}
	r.useVersion(a.Job, by)
	for i := range r.groups {
		if g := &r.groups[i]; g.group == a.Group {
			g.count(a, int32(by))
			return
		}
	}
	g := groupCount{group: a.Group}
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

// Statuses of child jobs, as positions in jobRow.children.
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

// countChild keeps the parent's count of its children by status.
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

// JobSummary counts the allocations of a job by group and client status, nil
// if there is no such job. It counts what the store holds: allocations that
// were collected are no longer in it.
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
		if g.n == [countKinds]int32{} {
			continue
		}
		s.Summary[g.group] = api.GroupSummary{
			Queued:   r.queued[g.group],
			Starting: int(g.n[countStarting]), Running: int(g.n[countRunning]),
			Complete: int(g.n[countComplete]), Failed: int(g.n[countFailed]),
			Lost: int(g.n[countLost]), Unknown: int(g.n[countUnknown]),
			Crashing: int(g.n[countCrashing]), Failing: int(g.n[countFailing]),
		}
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

// queue remembers what an evaluation could not place.
func (t *txn) queue(row *jobRow, e *api.Evaluation) {
	if e.QueuedAllocations == nil || row.job == nil || maps.Equal(row.queued, e.QueuedAllocations) {
		return
	}
	row.queued = e.QueuedAllocations
	row.summarized = t.index
	t.touch(TableJobs)
}
