// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"cmp"
	"maps"
	"slices"
)

// DefaultMaxRejections is how often nodes may refuse to run an instance of a
// batch job that does not say it.
const DefaultMaxRejections = 3

// RejectionsAllowed is how often nodes may refuse to run an instance before that
// has failed. Of jobs that are not batch jobs refusals are failures as others are.
func (j *Job) RejectionsAllowed() (n int, counted bool) {
	switch {
	case j.Type != JobTypeBatch:
		return 0, false
	case j.MaxRejections != nil:
		return *j.MaxRejections, true
	}
	return DefaultMaxRejections, true
}

// Rejection is why the allocation's node did not run it, for a reason of the
// node's own: it has not the driver or the user, no room for the directories, or
// never got the job. It is "" if anything of it ran, or could not be started for
// another reason.
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
			if e.Type == EventSetupFailure && e.FailsTask && why == "" {
				why = "task " + name + ": " + e.SetupError
			}
		}
	}
	return why
}
