// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package e2e_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// preemption lets services preempt.
func (m *machine) preemption() {
	m.t.Helper()
	config := api.DefaultSchedulerConfig()
	config.Preemption.ServiceSchedulerEnabled = true
	if res, err := m.Client.Operator().SetSchedulerConfig(m.t.Context(), config, nil); err != nil || !res.Updated {
		m.t.Fatalf("set the scheduler's configuration: %+v, %v", res, err)
	}
}

// share is a job that needs more than half of the node's memory.
func (m *machine) share(id string, priority int, script string) *api.Job {
	m.t.Helper()
	nodes, _, err := m.Client.Nodes().List(m.t.Context(), nil)
	if err != nil || len(nodes) != 1 {
		m.t.Fatalf("%d nodes, %v", len(nodes), err)
	}
	node, _, err := m.Client.Nodes().Get(m.t.Context(), nodes[0].ID, nil)
	if err != nil {
		m.t.Fatal(err)
	}
	job := testbed.ShellJob(id, 1, script)
	job.Priority = priority
	job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: ptr(1), MemoryMB: ptr(int(node.Capacity().MemoryMB * 6 / 10))}
	return job
}

// when is a task's state of the job's newest allocation that a condition holds
// for.
func (m *machine) when(job, what string, ok func(*api.Allocation) bool) *api.Allocation {
	m.t.Helper()
	var found *api.Allocation
	m.eventually(job+" "+what, func(ctx context.Context) error {
		list, _, err := m.Client.Jobs().Allocations(ctx, job, true, nil)
		if err != nil {
			return err
		}
		var seen []string
		for _, stub := range list {
			a, _, err := m.Client.Allocations().Get(ctx, stub.ID, nil)
			if err != nil {
				return err
			}
			if ok(a) {
				found = a
				return nil
			}
			seen = append(seen, fmt.Sprintf("%s %s %s (%s)", a, a.DesiredStatus, a.ClientStatus, a.ClientDescription))
		}
		return fmt.Errorf("its allocations are %s", strings.Join(seen, "; "))
	})
	return found
}

// TestPreemption has an important job take the room of another, whose task takes
// its time to end, while the agent is killed; when the important one is stopped,
// the other comes back.
func TestPreemption(t *testing.T) {
	m := newMachine(t)
	m.preemption()
	const slow = `trap 'sleep 2; exit 0' INT TERM; echo up; while :; do sleep 0.05; done`
	m.register(m.share("low", 20, slow))
	first := m.when("low", "runs", func(a *api.Allocation) bool { return a.ClientStatus == api.AllocClientRunning })
	m.waitForLog(first.ID, "task", "up")

	m.register(m.share("high", 80, `echo up; while :; do sleep 0.05; done`))
	placed := m.when("high", "is placed", func(*api.Allocation) bool { return true })
	m.Kill()
	m.start()
	m.waitReady()
	high := m.when("high", "runs", func(a *api.Allocation) bool { return a.ClientStatus == api.AllocClientRunning })
	low := m.when("low", "has ended", func(a *api.Allocation) bool { return a.ID == first.ID && a.IsClientTerminal() })
	if high.ID != placed.ID || len(high.PreemptedAllocations) != 1 || high.PreemptedAllocations[0] != low.ID {
		t.Errorf("%s was placed, %s runs and took over from %v, want from %s", placed, high, high.PreemptedAllocations, low.ID)
	}
	if low.DesiredStatus != api.AllocDesiredEvict || low.PreemptedByAllocation != high.ID || !strings.Contains(low.DesiredDescription, `of job "high"`) {
		t.Errorf("the other is desired %s (%s), preempted by %q", low.DesiredStatus, low.DesiredDescription, low.PreemptedByAllocation)
	}
	ended, begun := low.TaskStates["task"].FinishedAt, high.TaskStates["task"].StartedAt
	if begun.Before(ended) {
		t.Errorf("the one started %s before the other had ended", ended.Sub(begun).Round(time.Millisecond))
	}
	m.eventually("the other waits", func(ctx context.Context) error {
		evals, _, err := m.Client.Jobs().Evaluations(ctx, "low", nil)
		if err != nil {
			return err
		}
		seen := map[string]bool{}
		for _, e := range evals {
			seen[e.TriggeredBy+" "+e.Status] = true
		}
		if !seen[api.TriggerPreemption+" "+api.EvalStatusComplete] || !seen[api.TriggerQueuedAllocs+" "+api.EvalStatusBlocked] {
			return fmt.Errorf("its evaluations are %v", seen)
		}
		return nil
	})

	if _, err := m.Client.Jobs().Deregister(t.Context(), "high", client.DeregisterOptions{}); err != nil {
		t.Fatal(err)
	}
	back := m.when("low", "is back", func(a *api.Allocation) bool { return a.ID != first.ID && a.ClientStatus == api.AllocClientRunning })
	if back.PreviousAllocation != first.ID {
		t.Errorf("it takes over from %q, want %s", back.PreviousAllocation, first.ID)
	}
}
