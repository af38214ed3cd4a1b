// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package state

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// maxDeclined bounds the values that a cancelled restart declines. Equal values of many instances count once.
const maxDeclined = 1024

// pendingTemplates returns what identifies the values that wait for a rolling restart of a job, sorted.
func (c *content) pendingTemplates(job api.NamespacedID) []string {
	pending := map[string]bool{}
	for a := range c.AllocationsByJob(job.Namespace, job.ID) {
		if a.IsTerminal() {
			continue
		}
		for _, s := range a.TaskStates {
			_, values := s.PendingTemplates()
			for _, v := range values {
				pending[v] = true
			}
		}
	}
	all := slices.Sorted(maps.Keys(pending))
	return all[:min(len(all), maxDeclined)]
}

// DeclinedTemplates returns the newest restart of a job with values that an operator declined by cancelling it; nil if no
// restart has any.
func (c *content) DeclinedTemplates(namespace, id string) *api.JobRestart {
	for r := range c.RestartsByJob(namespace, id) {
		if len(r.Declined) > 0 {
			return r
		}
	}
	return nil
}

// IsDeclining reports whether an instance still waits with values that the ended restart declined, so that the restart
// must be kept.
func (c *content) IsDeclining(r *api.JobRestart) bool {
	if len(r.Declined) == 0 || c.DeclinedTemplates(r.Namespace, r.JobID) != r {
		return false
	}
	return slices.ContainsFunc(c.pendingTemplates(r.JobKey()), func(v string) bool { return slices.Contains(r.Declined, v) })
}
