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

// addTemplates adds a trouble for each task that has not started because a template waits for a value. It reports
// whether any does. A task that runs keeps the last rendering, and is not in trouble.
func (f *finder) addTemplates(in *facts.Instance) (found bool) {
	a := in.Alloc
	for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
		state := a.TaskStates[name]
		if state == nil || state.State != api.TaskStatePending {
			continue
		}
		i := slices.IndexFunc(state.Templates, func(t *api.TemplateState) bool { return t != nil && t.Waiting != "" })
		if i < 0 {
			continue
		}
		t := on(a, api.TroubleTemplate)
		t.Task = name
		t.Message = api.Printable(fmt.Sprintf("template %q of task %q waits for %s", state.Templates[i].Destination, name, state.Templates[i].Waiting), facts.LongestMessage)
		f.add(in, t)
		found = true
	}
	return found
}
