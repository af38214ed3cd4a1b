// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// TaskFigures are the measurements of one task.
type TaskFigures struct {
	Task     string
	State    api.TaskState // without its events
	Started  bool          // had a process at some time
	OOMKills uint64        // processes that ended because of their memory use, since the agent started
	Limits   driver.Limits
	Stats    driver.Stats // zero if the task does not run, or cannot be measured
}

// Figures measures the tasks of the allocation.
func (r *Runner) Figures(ctx context.Context) []TaskFigures {
	r.mu.Lock()
	all := make([]TaskFigures, 0, len(r.tasks))
	handles := make([]driver.Handle, 0, len(r.tasks))
	for _, t := range r.tasks {
		f := TaskFigures{Task: t.name, State: *t.state, Started: t.ran, OOMKills: t.oomKills, Limits: taskenv.Limits(r.alloc, t.spec)}
		f.State.Events = nil
		all, handles = append(all, f), append(handles, t.handle)
	}
	r.mu.Unlock()
	for i, h := range handles {
		if h == nil {
			continue
		}
		if s, err := h.Stats(ctx); err == nil {
			all[i].Stats = s
		}
	}
	return all
}
