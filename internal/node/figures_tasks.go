// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"context"
	"sync"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
	"github.com/reeve-run/reeve/internal/node/runner"
)

// minTaskPeriod is the shortest time between two measurements of the tasks. Everyone may read metrics, and a
// measurement reads several files for each task.
const minTaskPeriod = time.Second

// TaskFigures are the measurements of a task. Numbers that are unknown are 0.
type TaskFigures struct {
	AllocID, Namespace, Job, Group, Task string

	Ended                                          bool   // reports whether the allocation has ended
	Restarts, Starts, Completed, Failed, OOMKilled uint64 // since the task exists; OOMKilled since the agent started

	Memory, RSS, Cache, Swap, MaxMemory, Kernel int64 // bytes
	MemoryAllocated, MemoryMaxAllocated         int64 // bytes; MemoryMaxAllocated 0: no limit of its own

	CPUPercent, UserPercent, SystemPercent float64 // of one core
	CPUTicks                               float64 // MHz
	CPUAllocated                           float64 // MHz
	ThrottledPeriods                       uint64
	ThrottledTime                          time.Duration
}

// A taskMeter measures all tasks of a node.
type taskMeter struct {
	mu   sync.Mutex
	at   time.Time               // of the last measurement
	last []TaskFigures           // its result
	seen map[string]driver.Stats // by allocation and task
}

// read measures the tasks of the runners. Rates are since the previous measurement. A core has perCore MHz.
func (m *taskMeter) read(ctx context.Context, runners []*runner.Runner, perCore float64, now time.Time) []TaskFigures {
	m.mu.Lock()
	defer m.mu.Unlock()
	if !m.at.IsZero() && now.Sub(m.at) < minTaskPeriod {
		return m.last
	}
	seen := make(map[string]driver.Stats, len(m.seen))
	all := make([]TaskFigures, 0, len(m.last))
	for _, r := range runners {
		ended := false
		select {
		case <-r.Ended():
			ended = true
		default:
		}
		a := r.Allocation()
		for _, f := range r.Figures(ctx) {
			key := a.ID + "/" + f.Task
			t := taskFigures(f, m.seen[key], perCore)
			t.AllocID, t.Namespace, t.Job, t.Group, t.Task, t.Ended = a.ID, a.Namespace, a.JobID, a.Group, f.Task, ended
			all = append(all, t)
			if !f.Stats.At.IsZero() {
				seen[key] = f.Stats
			}
		}
	}
	m.at, m.last, m.seen = now, all, seen
	return all
}

// taskFigures converts a measurement of a task, with the previous one of the same task.
func taskFigures(f runner.TaskFigures, last driver.Stats, perCore float64) TaskFigures {
	s := f.Stats
	t := TaskFigures{
		Restarts: f.State.Restarts, OOMKilled: f.OOMKills,
		Memory: s.MemoryBytes, RSS: s.RSSBytes, Cache: s.CacheBytes, Swap: s.SwapBytes, MaxMemory: s.MaxMemoryBytes, Kernel: s.KernelBytes,
		MemoryAllocated: f.Limits.MemoryMB << 20, MemoryMaxAllocated: max(f.Limits.MemoryMaxMB, 0) << 20, CPUAllocated: float64(f.Limits.CPUShares),
		ThrottledPeriods: s.ThrottledPeriods, ThrottledTime: s.ThrottledTime,
	}
	if f.Started {
		t.Starts = 1 + f.State.Restarts
	}
	if f.State.State == api.TaskStateDead {
		if f.State.Failed {
			t.Failed = 1
		} else {
			t.Completed = 1
		}
	}
	// Another run of the task counts from 0 again.
	if elapsed := s.At.Sub(last.At); !last.At.IsZero() && elapsed > 0 && s.CPUTime >= last.CPUTime {
		percent := func(now, then time.Duration) float64 { return 100 * float64(max(now-then, 0)) / float64(elapsed) }
		t.CPUPercent, t.UserPercent, t.SystemPercent = percent(s.CPUTime, last.CPUTime), percent(s.UserTime, last.UserTime), percent(s.SystemTime, last.SystemTime)
		t.CPUTicks = t.CPUPercent / 100 * perCore
	}
	return t
}
