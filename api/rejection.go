// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"maps"
	"slices"
)

// DefaultMaxRejections is the default of a batch job's max_rejections.
const DefaultMaxRejections = 3

// RejectionsAllowed returns the number of times that nodes may reject an instance before
// the instance fails. For other jobs than batch jobs, counted is false: rejections count
// as ordinary failures.
func (j *Job) RejectionsAllowed() (n int, counted bool) {
	switch {
	case j.Type != JobTypeBatch:
		return 0, false
	case j.MaxRejections != nil:
		return *j.MaxRejections, true
	}
	return DefaultMaxRejections, true
}

// Rejection returns why the allocation's node did not run it, for a reason specific to the
// node: a missing driver or user, no room for the directories, or a job that never
// arrived. It is "" if any task ran, or failed to start for another reason.
func (a *Allocation) Rejection() string {
	if a.ClientStatus != AllocClientFailed {
		return ""
	}
	if len(a.TaskStates) == 0 {
		return cmp.Or(a.ClientDescription, "its node did not take it")
	}
	why := ""
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		s := a.TaskStates[name]
		if s == nil {
			continue
		}
		if !s.StartedAt.IsZero() {
			return ""
		}
		for _, e := range s.Events {
			if (e.Type == EventSetupFailure || e.Type == EventDownloadFailed) && e.FailsTask && why == "" {
				why = "task " + name + ": " + cmp.Or(e.SetupError, e.DownloadError)
			}
		}
	}
	return why
}
