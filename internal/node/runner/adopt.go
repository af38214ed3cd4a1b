// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"time"

	"github.com/reeve-run/reeve/api"
)

// Adopt has a runner that has not begun go on from where its allocation is, as far
// as its record, if there is one, does not know that. runs are the newest runs of
// its tasks that the supervisor keeps; what the servers were told of the others is
// in the allocation. It reports whether there are such runs: Resume finds them,
// and Start would begin anew.
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
