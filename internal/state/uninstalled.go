// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"cmp"
	"iter"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// What one Uninstalled holds is bounded: a job may have had 100,000 allocations.
const (
	uninstalledKills     = 200
	uninstalledDecisions = 20
)

// uninstalls holds the jobs that were purged a short while ago.
var uninstalls = declare(noun[api.Uninstalled]{
	name: "uninstalled jobs", singular: "uninstalled job", verb: "Uninstalled", frame: 12,
	key:   func(u *api.Uninstalled) string { return jobName(u.Namespace, u.JobID) },
	stamp: func(u *api.Uninstalled) (create, modify *uint64) { return &u.CreateIndex, &u.ModifyIndex },
})

// TableUninstalled holds *api.Uninstalled.
var TableUninstalled = uninstalls.table

// Uninstalled returns the record of a recently purged job; nil if it does not exist.
func (c *content) Uninstalled(namespace, id string) *api.Uninstalled {
	return uninstalls.find(c, jobName(namespace, id))
}

// UninstalledJobs yields the records of the purged jobs of a namespace, or of all namespaces
// if it is "*", ordered by namespace, then id.
func (c *content) UninstalledJobs(namespace string) iter.Seq[*api.Uninstalled] {
	if namespace == "*" {
		return uninstalls.all(c, "")
	}
	return uninstalls.all(c, jobName(namespace, ""))
}

// ForgetUninstalled returns the command that deletes the record of a purged job, unless the
// job was purged again in the meantime.
func ForgetUninstalled(u *api.Uninstalled) Command {
	modified := u.ModifyIndex
	return &deleteObject[api.Uninstalled]{uninstalls, uninstalls.key(u), &modified}
}

// uninstall forgets a purged job, and remembers its plan uninstall. Allocations
// that ended since then ended for the purge. All times are Unix nanoseconds.
func (t *txn) uninstall(job *api.Job, since, now int64) {
	u := &api.Uninstalled{Namespace: job.Namespace, JobID: job.ID, JobVersion: job.Version, EndedAt: now, Killed: []*api.UninstalledAllocation{}}
	var killed []*api.Allocation
	for a := range t.AllocationsByJob(job.Namespace, job.ID) {
		if a.ModifyTime >= since {
			u.Allocations++
			killed = insertFirst(killed, a)
		}
	}
	for _, a := range killed {
		k := &api.UninstalledAllocation{ID: a.ID, Group: a.Group, Index: a.Index(), EndedAt: a.ModifyTime}
		if a.Job != nil {
			k.JobVersion = a.Job.Version
		}
		u.Killed = append(u.Killed, k)
	}
	for _, d := range t.Decisions(job.Namespace, job.ID) {
		if d.Plan == api.PlanUninstall {
			u.Decisions = append(u.Decisions, d)
		}
	}
	u.Decisions = slices.Clone(u.Decisions[max(0, len(u.Decisions)-uninstalledDecisions):])
	t.deleteJob(job.Namespace, job.ID)
	uninstalls.put(t, u)
}

// insertFirst keeps the first allocations by name and id: a job lists its
// allocations in an order that is not the same on every server.
func insertFirst(first []*api.Allocation, a *api.Allocation) []*api.Allocation {
	at, _ := slices.BinarySearchFunc(first, a, func(a, b *api.Allocation) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.ID, b.ID))
	})
	if at == uninstalledKills {
		return first
	}
	if len(first) == uninstalledKills {
		first = first[:uninstalledKills-1]
	}
	return slices.Insert(first, at, a)
}
