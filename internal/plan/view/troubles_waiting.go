// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"iter"
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/plan/facts"
)

// addWaiting adds a trouble for each task that waits for a value. It reports whether any does.
func (f *finder) addWaiting(in *facts.Instance) (found bool) {
	for w := range waitingTasks(in.Alloc) {
		t := on(in.Alloc, w.kind)
		t.Task, t.Message = w.task, w.words
		f.add(in, t)
		found = true
	}
	return found
}

// A waitingTask has not started, because a secret or a template of it waits for a value.
type waitingTask struct {
	task  string
	kind  api.TroubleKind
	words string
}

// waitingTasks yields the tasks of an allocation that wait for a value. A task that runs keeps the last rendering, and
// does not wait.
func waitingTasks(a *api.Allocation) iter.Seq[waitingTask] {
	return func(yield func(waitingTask) bool) {
		if a == nil || a.IsClientTerminal() || a.IsServerTerminal() {
			return
		}
		for _, name := range slices.Sorted(maps.Keys(a.TaskStates)) {
			state := a.TaskStates[name]
			if state == nil || state.State != api.TaskStatePending {
				continue
			}
			w := waitingTask{task: name, kind: api.TroubleSecret, words: fmt.Sprintf("task %q waits for %s", name, state.Waiting)}
			if state.Waiting == "" {
				i := slices.IndexFunc(state.Templates, func(t *api.TemplateState) bool { return t != nil && t.Waiting != "" })
				if i < 0 {
					continue
				}
				t := state.Templates[i]
				w.kind, w.words = api.TroubleTemplate, fmt.Sprintf("template %q of task %q waits for %s", t.Destination, name, t.Waiting)
			}
			w.words = api.Printable(w.words, facts.LongestMessage)
			if !yield(w) {
				return
			}
		}
	}
}
