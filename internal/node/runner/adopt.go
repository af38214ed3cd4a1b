// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Adopt makes a runner that has not started continue from the last reported state of its
// allocation, where the runner's record is missing or older. runs maps each task to the
// newest run that the supervisor holds; the allocation holds the last report of the other
// tasks. Adopt reports whether the supervisor holds such a run: if so, call Resume, which
// finds the processes, not Start, which would run the tasks again.
func (r *Runner) Adopt(runs map[string]int) (found bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, t := range r.tasks {
		told := r.alloc.TaskStates[t.name]
		switch run := runs[t.name]; {
		case run > t.run:
			found = true
			t.run, t.stage, t.ran = run, stageActive, true
			if told != nil {
				t.state = told
			}
			t.change(func(s *api.TaskState) {
				s.State, s.Failed, s.FinishedAt = api.TaskStateRunning, false, time.Time{}
			})
		case t.run == 0 && told != nil && told.State == api.TaskStateDead && !told.StartedAt.IsZero():
			t.state, t.stage, t.ran = told, stageDead, true
		}
	}
	if found {
		r.adopted = true
		if r.serving == nil {
			r.serving = r.alloc.Serving
		}
		r.save()
	}
	return found
}
