// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

// An Uninstalled remembers a purged job for a while after its end: what its plan
// uninstall did. Without it a follower of the plan would never see it complete.
type Uninstalled struct {
	Namespace   string
	JobID       string
	JobVersion  uint64
	EndedAt     int64                    // Unix nanoseconds
	Allocations int                      // that ended for the purge
	Killed      []*UninstalledAllocation // the first of them by name: their number is bounded
	Decisions   []*Decision              `json:",omitempty"` // on the plan, oldest first; the last few
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
