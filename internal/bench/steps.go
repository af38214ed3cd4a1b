// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

const stepBar = "p50 <= 30 ms"

// stepToStep measures plans: from the end of one step, as seen by the node, to the start of
// the next step's process.
func stepToStep(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	if err := instanceByInstance(ctx, b, m); err != nil {
		return err
	}
	var t times
	for i := range 3 {
		some, err := taskByTask(ctx, m, fmt.Sprintf("tasks-%d", i))
		if err != nil {
			return err
		}
		t = append(t, some...)
	}
	b.add("step to step: a task finished -> the next one's raw_exec process started", stepBar, "%s", t)
	return nil
}

// deriving measures all plans of one large job: while it is healthy, while all of it waits for
// an update, and while half of it has failed.
func deriving(ctx context.Context, b *bench) error {
	const instances = 10_000
	m := metrics{}
	if err := m.run(ctx, "internal/plan", "^BenchmarkDerive$/^(well|older|failed)$", "200x"); err != nil {
		return err
	}
	for _, kind := range []struct{ benchmark, what, bar string }{
		{"Derive/well", "all plans of a job of 10,000 instances: all of them well", "<= 5 ms, <= 100 B"},
		{"Derive/older", "... all of an older version", "<= 5 ms, <= 100 B"},
		{"Derive/failed", "... half of them failed", ""},
	} {
		ns, err := m.of(kind.benchmark, "ns/op")
		if err != nil {
			return err
		}
		size, err := m.of(kind.benchmark, "B/op")
		if err != nil {
			return err
		}
		b.add(kind.what, kind.bar, "%.1f ms, %.0f B for each instance", ns/1e6, size/instances)
	}
	return nil
}

// listing measures the plans of many jobs, without their phases.
func listing(ctx context.Context, b *bench) error {
	m := metrics{}
	if err := m.run(ctx, "internal/server", "^BenchmarkPlans$", "20x"); err != nil {
		return err
	}
	ns, err := m.of("Plans", "ns/op")
	if err != nil {
		return err
	}
	b.add("the plans of 10,000 jobs of 10 instances each, with their statuses", "<= 100 ms", "%.0f ms", ns/1e6)
	return nil
}

// instanceByInstance deploys instances serially: a step completes when its allocation is
// healthy.
func instanceByInstance(ctx context.Context, b *bench, m *machine) error {
	const n = 50
	job := testbed.Job("steps", "raw_exec", n, sleepForever)
	job.Plans = []*api.PlanSpec{{Name: api.PlanDeploy, Strategy: api.StrategySerial, Phases: []*api.PhaseSpec{
		{Name: "main", Group: "main", Strategy: api.StrategySerial},
	}}}
	if err := register(ctx, m, job); err != nil {
		return err
	}
	if err := m.allRunning(ctx, job.ID, n); err != nil {
		return err
	}
	list, _, err := m.Client.Jobs().Allocations(ctx, job.ID, true, nil)
	if err != nil {
		return err
	}
	slices.SortFunc(list, func(x, y *api.AllocationListStub) int { return startOf(x).Compare(startOf(y)) })
	var t times
	for i, a := range list[1:] {
		healthy := list[i].DeploymentStatus
		if healthy == nil {
			return fmt.Errorf("%s has no health", list[i].Name)
		}
		t = append(t, startOf(a).Sub(healthy.Timestamp))
	}
	b.add("step to step: an instance is healthy -> the next one's raw_exec process started", stepBar, "%s", t)
	_, err = m.Client.Jobs().Deregister(ctx, job.ID, purge)
	return err
}

func startOf(a *api.AllocationListStub) time.Time { return a.TaskStates["task"].StartedAt }

// taskByTask launches the tasks of one instance serially: a step completes when its task has
// finished.
func taskByTask(ctx context.Context, m *machine, id string) (t times, err error) {
	const n = 20
	job := testbed.Job(id, "raw_exec", 1, sleepForever)
	group := job.Groups[0]
	disk := 4 * n // for the logs
	group.EphemeralDisk = &api.EphemeralDisk{SizeMB: &disk}
	phase := &api.PhaseSpec{Name: "main", Group: "main", Strategy: api.StrategySerial}
	for i := range n {
		task := *group.Tasks[0]
		task.Name, task.Goal, task.Config = fmt.Sprintf("task%d", i), api.GoalFinish, map[string]any{"command": "/bin/true"}
		group.Tasks = append(group.Tasks, &task)
		phase.Steps = append(phase.Steps, &api.StepSpec{Tasks: []string{task.Name}})
	}
	phase.Steps = append(phase.Steps, &api.StepSpec{Tasks: []string{"task"}})
	job.Plans = []*api.PlanSpec{{Name: api.PlanDeploy, Strategy: api.StrategySerial, Phases: []*api.PhaseSpec{phase}}}
	if err := register(ctx, m, job); err != nil {
		return nil, err
	}
	err = m.poll(ctx, func(ctx context.Context) error {
		list, _, err := m.Client.Jobs().Allocations(ctx, job.ID, true, nil)
		if err != nil {
			return err
		}
		if len(list) != 1 || list[0].TaskStates["task"] == nil || startOf(list[0]).IsZero() {
			return fmt.Errorf("not all steps are done")
		}
		t = nil
		for i := range n {
			next := "task"
			if i+1 < n {
				next = fmt.Sprintf("task%d", i+1)
			}
			t = append(t, list[0].TaskStates[next].StartedAt.Sub(list[0].TaskStates[fmt.Sprintf("task%d", i)].FinishedAt))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	_, err = m.Client.Jobs().Deregister(ctx, job.ID, purge)
	return t, err
}
