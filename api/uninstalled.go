// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// An Uninstalled is the record of a purged job's plan uninstall, which is kept for a while
// after the job's removal. It lets followers of the plan see the plan complete.
type Uninstalled struct {
	Namespace   string
	JobID       string
	JobVersion  uint64
	EndedAt     int64                    // Unix nanoseconds
	Allocations int                      // number of allocations that ended for the purge
	Killed      []*UninstalledAllocation // the first of these by name, in bounded number
	Decisions   []*Decision              `json:",omitempty"` // decisions on the plan, oldest first; the last few
	CreateIndex uint64
	ModifyIndex uint64
}

// Key identifies the job.
func (u *Uninstalled) Key() NamespacedID { return NamespacedID{Namespace: u.Namespace, ID: u.JobID} }

// An UninstalledAllocation is an allocation that ended for a purge.
type UninstalledAllocation struct {
	ID         string
	Group      string
	Index      int
	JobVersion uint64
	EndedAt    int64 // Unix nanoseconds
}
