// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package applier

import (
	"iter"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/quota"
	"github.com/reeve-run/reeve/internal/state"
)

// overQuota returns the new allocations of a submission that exceed a quota of their namespace.
//
// The state must contain every placement that others, the reservations, no longer do: it is read
// after them. An allocation that replaces another one of the same entry counts net, and only while
// the other one counts. If that one ends by itself before the entry is applied, the usage falls by as
// much as the entry then adds: the sum on which later checks rely stays the same. Updates in place,
// also those of allocations whose node reconnects, are never refused.
func overQuota(newest *state.Snapshot, s *submission, refused []placement.Refusal, others iter.Seq[*api.Allocation]) (over []placement.Refusal) {
	p := s.Placement
	if len(p.Place) == 0 {
		return nil
	}
	budget := quota.New(newest, s.Job.Namespace)
	if budget == nil {
		return nil
	}
	for a := range others {
		if newest.Allocation(a.ID) == nil {
			budget.Reserve(resolved(newest, a, nil))
		}
	}
	out := make(map[string]bool, len(refused))
	for _, r := range refused {
		out[r.AllocID] = true
	}
	successors := map[string]int{} // number of new allocations, by predecessor
	for _, a := range p.Place {
		successors[a.PreviousAllocation]++
	}
	freed := map[string]*api.Allocation{}
	for i := range p.Stop {
		old := newest.Allocation(p.Stop[i].ID)
		if old == nil || old.IsTerminal() {
			continue
		}
		switch successors[old.ID] {
		case 0:
			budget.Return(old.QuotaUse())
		case 1:
			freed[old.ID] = old
		} // of several successors, each that is refused keeps its predecessor: nothing is sure to be free
	}
	for _, a := range p.Place {
		if out[a.ID] || newest.Allocation(a.ID) != nil {
			continue
		}
		old := freed[a.PreviousAllocation]
		if old != nil {
			budget.Return(old.QuotaUse())
		}
		use, pool := resolved(newest, a, p.Job).QuotaNeed()
		if obstacles := budget.Obstacles(use, pool); len(obstacles) > 0 {
			over = append(over, placement.Refusal{AllocID: a.ID, Reason: obstacles[0].Text()})
			if old != nil {
				budget.Take(old.QuotaUse())
			}
			continue
		}
		budget.Take(use, pool)
	}
	return over
}

// resolved returns the allocation with the job that the state will give it.
func resolved(newest *state.Snapshot, a *api.Allocation, of *api.Job) *api.Allocation {
	job := a.Job
	if job == nil {
		job = of
	}
	if job == nil || job.Group(a.Group) != nil && job == a.Job {
		return a
	}
	c := *a
	c.Job = job
	if job.Group(a.Group) == nil { // of a follower's worker: a reference to an older version
		if stored := newest.JobVersion(job.Namespace, job.ID, job.Version); stored != nil {
			c.Job = stored
		}
	}
	return &c
}
