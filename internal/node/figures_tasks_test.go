// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/runner"
)

func TestFiguresOfATask(t *testing.T) {
	at := time.Unix(1000, 0)
	last := driver.Stats{At: at, CPUTime: time.Second, UserTime: time.Second}
	for what, c := range map[string]struct {
		figures runner.TaskFigures
		last    driver.Stats
		want    TaskFigures
	}{
		"it was never measured": {runner.TaskFigures{Started: true, Stats: driver.Stats{At: at, CPUTime: time.Hour, RSSBytes: 9}}, driver.Stats{}, TaskFigures{Starts: 1, RSS: 9}},
		"it runs": {
			runner.TaskFigures{Started: true, State: api.TaskState{State: api.TaskStateRunning, Restarts: 2}, OOMKills: 1,
				Limits: driver.Limits{CPUShares: 100, MemoryMB: 2, MemoryMaxMB: -1},
				Stats:  driver.Stats{At: at.Add(2 * time.Second), CPUTime: 2 * time.Second, UserTime: time.Second + 500*time.Millisecond, SystemTime: 500 * time.Millisecond, ThrottledPeriods: 3}},
			last, TaskFigures{Starts: 3, Restarts: 2, OOMKilled: 1, MemoryAllocated: 2 << 20, CPUAllocated: 100, CPUPercent: 50, UserPercent: 25, SystemPercent: 25, CPUTicks: 1000, ThrottledPeriods: 3},
		},
		"another run":      {runner.TaskFigures{Started: true, Stats: driver.Stats{At: at.Add(time.Second), CPUTime: time.Millisecond}}, last, TaskFigures{Starts: 1}},
		"a clock set back": {runner.TaskFigures{Started: true, Stats: driver.Stats{At: at.Add(-time.Second), CPUTime: 2 * time.Second}}, last, TaskFigures{Starts: 1}},
		"it is complete":   {runner.TaskFigures{Started: true, State: api.TaskState{State: api.TaskStateDead}}, last, TaskFigures{Starts: 1, Completed: 1}},
		"it has failed":    {runner.TaskFigures{State: api.TaskState{State: api.TaskStateDead, Failed: true}}, driver.Stats{}, TaskFigures{Failed: 1}},
	} {
		if d := cmp.Diff(c.want, taskFigures(c.figures, c.last, 2000)); d != "" {
			t.Errorf("%s (-want +got):\n%s", what, d)
		}
	}
}

// TestRealTasksAreMeasured measures a task that holds memory, and measures once for readers that come together.
func TestRealTasksAreMeasured(t *testing.T) {
	r := runReal(t)
	r.sleeping(t)
	first := r.Figures().Tasks
	if len(first) != 1 || first[0].AllocID != "one" || first[0].Task != "t" || first[0].Starts != 1 || first[0].RSS <= 0 || first[0].Memory <= 0 || first[0].Ended {
		t.Errorf("got %+v, want one running task with memory", first)
	}
	if again := r.Figures().Tasks; len(again) != 1 || &again[0] != &first[0] {
		t.Error("a second reader measures again")
	}
}
