// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

// unplaceable returns a service that no node has room for. No two have the same config,
// environment and annotations, as no two jobs of users do.
func unplaceable(i int64) *api.Job {
	id := fmt.Sprintf("unplaceable-%d", i)
	j := testbed.Job(id, "raw_exec", 1, map[string]any{
		"command": fmt.Sprintf("/opt/team-%d/%s-1.%d.0/bin/serve", i%50, id, i%100),
		"args":    []any{"--listen", "0.0.0.0:8080", "--name", id},
	})
	huge := 1 << 20
	task := j.Groups[0].Tasks[0]
	task.Resources.MemoryMB = &huge
	task.Env = map[string]string{"SERVICE": id, "LOG_LEVEL": "info", "DATABASE": fmt.Sprintf("postgres://db-%d/%s", i%10, id)}
	j.Meta = map[string]string{"owner": fmt.Sprintf("team-%d", i%50)}
	return j
}

// allBlocked waits until n evaluations are blocked.
func (m *machine) allBlocked(ctx context.Context, n int64) error {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	return m.Poll(ctx, 500*time.Millisecond, func(ctx context.Context) error {
		blocked, _, err := m.Client.Evaluations().Count(ctx, &client.QueryOptions{Filter: `Status == "blocked"`})
		if err == nil && int64(blocked) != n {
			err = fmt.Errorf("%d evaluations are blocked", blocked)
		}
		return err
	})
}

// restart measures the memory of a server with many jobs that wait for room, and the time
// until it answers again after it was killed.
func restart(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	registered := int64(0)
	for _, step := range []struct {
		jobs int64
		bar  string
	}{{10_000, "<= 100 MB RSS"}, {40_000, ""}} {
		first := registered
		_, rate, err := flood(ctx, step.jobs-first, func(i int64) error { return register(ctx, m, unplaceable(first+i)) })
		if err != nil {
			return err
		}
		registered = step.jobs
		if err := m.allBlocked(ctx, step.jobs); err != nil {
			return err
		}
		if err := pause(ctx, 2*settle); err != nil {
			return err
		}
		b.add(fmt.Sprintf("a server with %s unplaceable jobs", amount(float64(step.jobs))), step.bar, "%.0f MB RSS (registered at %s/s)",
			float64(testbed.ResidentBytes(m.PID()))/1e6, amount(rate))
	}
	return restarts(ctx, b, m, registered)
}

// restarts kills a server with so many jobs, and starts it again.
func restarts(ctx context.Context, b *bench, m *machine, jobs int64) error {
	var answers, processor times
	var memory []float64
	for range 5 {
		m.Kill()
		begin := time.Now()
		if err := m.Start(); err != nil {
			return err
		}
		if err := m.poll(ctx, func(ctx context.Context) error {
			_, _, err := m.Client.Jobs().Get(ctx, fmt.Sprintf("unplaceable-%d", jobs), nil)
			return err
		}); err != nil {
			return err
		}
		answers, processor = append(answers, time.Since(begin)), append(processor, processorTime([]int{m.PID()}))
		memory = append(memory, float64(testbed.ResidentBytes(m.PID()))/1e6)
	}
	b.add("... killed and started -> it returns one of these jobs", "<= 1 s", "%s", answers)
	b.add("... ... processor time until then", "", "%s", processor)
	b.add("... ... memory then", "<= 200 MB RSS", "median %.0f MB RSS", median(memory))
	if err := pause(ctx, 2*settle); err != nil {
		return err
	}
	b.add("... ... memory a little later", "<= 200 MB RSS", "%.0f MB RSS", float64(testbed.ResidentBytes(m.PID()))/1e6)
	return nil
}
