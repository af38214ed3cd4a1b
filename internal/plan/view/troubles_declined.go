// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// addDeclined adds a trouble for an instance that keeps an older rendering because an operator cancelled the rolling restart
// that was to replace it.
func (f *finder) addDeclined(in *facts.Instance) {
	a := in.Alloc
	if !a.HasPendingTemplates() {
		return
	}
	d := f.view.R.DeclinedTemplates(a.Namespace, a.JobID)
	if d == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		destinations, values := a.TaskStates[name].PendingTemplates()
		for i, v := range values {
			if !slices.Contains(d.Declined, v) {
				continue
			}
			t := on(a, api.TroubleTemplate)
			t.Task, t.At = name, d.UpdatedAt
			t.Message = api.Printable(fmt.Sprintf("template %q of task %q keeps an older rendering: restart %s was cancelled; restart the task with: reeve job restart -health-gate %s",
				destinations[i], name, api.ShortID(d.ID), a.JobID), facts.LongestMessage)
			f.add(in, t)
			return
		}
	}
}
