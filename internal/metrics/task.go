// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"cmp"
	"slices"
	"time"
)

// A Task holds the measurements of a task of a node. Numbers that are unknown are 0.
type Task struct {
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

func taskSeries() []*Series {
	const p = "nomad.client.allocs."
	task := []string{"alloc_id", "job", "task_group", "task", "namespace"}
	return of("node",
		gauge(p+"memory.usage", "Bytes of memory of a task, with its part of the page cache; 0 if unknown, as for all series of a task", task...),
		gauge(p+"memory.rss", "Bytes of anonymous memory of a task", task...),
		gauge(p+"memory.cache", "Bytes of page cache of a task", task...),
		gauge(p+"memory.swap", "Bytes of swap of a task", task...),
		gauge(p+"memory.max_usage", "Highest number of bytes of memory that a task used", task...),
		gauge(p+"memory.kernel_usage", "Bytes of kernel memory of a task", task...),
		gauge(p+"memory.allocated", "Bytes of memory that a task holds", task...),
		gauge(p+"memory.max_allocated", "Bytes of memory that a task may use at most; 0: `memory`, or no limit", task...),
		gauge(p+"cpu.total_percent", "Processor time of a task since the last measurement, in percent of one core", task...),
		gauge(p+"cpu.total_ticks", "The same in MHz", task...),
		gauge(p+"cpu.user", "Part of it in user mode, in percent of one core", task...),
		gauge(p+"cpu.system", "Part of it in the kernel, in percent of one core", task...),
		gauge(p+"cpu.allocated", "MHz that a task holds", task...),
		gauge(p+"cpu.throttled_periods", "Periods in which a task had to wait for processor time", task...),
		gauge(p+"cpu.throttled_time", "Time that a task had to wait, in nanoseconds", task...),
		counter(p+"restart", "Restarts of a task", task...),
		counter(p+"running", "Starts of a task", task...),
		counter(p+"complete", "1 if a task has ended, and did not fail", task...),
		counter(p+"failed", "1 if a task has failed", task...),
		counter(p+"oom_killed", "Runs of a task that the kernel ended because of their memory use, since the start of the agent", task...),
		gauge("reeve.node.tasks_omitted", "Tasks without series, because of the limit of series"),
	)
}

// tasks writes the series of tasks: those of allocations that have not ended come first.
func (e *emitter) tasks(all []Task) {
	all = slices.Clone(all)
	slices.SortFunc(all, func(a, b Task) int {
		if a.Ended != b.Ended {
			if a.Ended {
				return 1
			}
			return -1
		}
		return cmp.Or(cmp.Compare(a.AllocID, b.AllocID), cmp.Compare(a.Task, b.Task))
	})
	shown := all[:min(len(all), e.r.limits.Tasks)]
	for i := range shown {
		e.task(&shown[i])
	}
	e.gauge("reeve.node.tasks_omitted", float64(len(all)-len(shown)))
}

func (e *emitter) task(t *Task) {
	const p = "nomad.client.allocs."
	labels := []string{t.AllocID, Label(t.Job), Label(t.Group), Label(t.Task), Label(t.Namespace)}
	e.gauge(p+"memory.usage", float64(t.Memory), labels...)
	e.gauge(p+"memory.rss", float64(t.RSS), labels...)
	e.gauge(p+"memory.cache", float64(t.Cache), labels...)
	e.gauge(p+"memory.swap", float64(t.Swap), labels...)
	e.gauge(p+"memory.max_usage", float64(t.MaxMemory), labels...)
	e.gauge(p+"memory.kernel_usage", float64(t.Kernel), labels...)
	e.gauge(p+"memory.allocated", float64(t.MemoryAllocated), labels...)
	e.gauge(p+"memory.max_allocated", float64(t.MemoryMaxAllocated), labels...)
	e.gauge(p+"cpu.total_percent", t.CPUPercent, labels...)
	e.gauge(p+"cpu.total_ticks", t.CPUTicks, labels...)
	e.gauge(p+"cpu.user", t.UserPercent, labels...)
	e.gauge(p+"cpu.system", t.SystemPercent, labels...)
	e.gauge(p+"cpu.allocated", t.CPUAllocated, labels...)
	e.gauge(p+"cpu.throttled_periods", float64(t.ThrottledPeriods), labels...)
	e.gauge(p+"cpu.throttled_time", float64(t.ThrottledTime), labels...)
	e.counter(p+"restart", t.Restarts, labels...)
	e.counter(p+"running", t.Starts, labels...)
	e.counter(p+"complete", t.Completed, labels...)
	e.counter(p+"failed", t.Failed, labels...)
	e.counter(p+"oom_killed", t.OOMKilled, labels...)
}
