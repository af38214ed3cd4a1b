// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/testbed"
)

var sleepForever = map[string]any{"command": "/bin/sleep", "args": []string{"100000"}}

func register(ctx context.Context, m *machine, j *api.Job) error {
	_, err := m.Client.Jobs().Register(ctx, &api.RegisterJobRequest{Job: j})
	return err
}

func startRawExec(ctx context.Context, b *bench) error {
	return startLatency(ctx, b, "raw_exec", "p50 <= 15 ms, p99 <= 60 ms")
}

func startExec(ctx context.Context, b *bench) error {
	return startLatency(ctx, b, "exec", "p50 <= 25 ms")
}

// startLatency measures from the sending of a registration to the start of the task's process,
// by the clock that the node shares, and to its appearance as running in the API.
func startLatency(ctx context.Context, b *bench, driver, bar string) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	var started, visible times
	for i := range 100 {
		id := fmt.Sprintf("start-%d", i)
		begin := time.Now()
		if err := register(ctx, m, testbed.Job(id, driver, 1, sleepForever)); err != nil {
			return err
		}
		if err := m.allRunning(ctx, id, 1); err != nil {
			return fmt.Errorf("%s: %w", id, err)
		}
		visible = append(visible, time.Since(begin))
		list, _, err := m.Client.Jobs().Allocations(ctx, id, true, nil)
		if err != nil {
			return err
		}
		started = append(started, list[0].TaskStates["task"].StartedAt.Sub(begin))
		if _, err := m.Client.Jobs().Deregister(ctx, id, purge); err != nil {
			return err
		}
	}
	b.add("register -> "+driver+" process started", bar, "%s", started)
	b.add("register -> "+driver+" running in the API", "p50 <= 20 ms", "%s", visible)
	return nil
}

func registerOne(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	fsync, err := fsyncTimes(m.Dir, 300)
	if err != nil {
		return err
	}
	var t times
	for i := range 1000 {
		begin := time.Now()
		if err := register(ctx, m, testbed.Job(fmt.Sprintf("one-%d", i), "mock", 0, nil)); err != nil {
			return err
		}
		t = append(t, time.Since(begin))
	}
	bar := 3*fsync.at(0.5) + time.Millisecond
	b.add("fsync of 4 KB on this disk", "", "%s", fsync)
	b.add("register, durable, 1 client", "p50 <= 3 fsync + 1 ms = "+ms(bar), "%s", t)
	return nil
}

func fsyncTimes(dir string, n int) (times, error) {
	f, err := os.Create(filepath.Join(dir, "fsync"))
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	defer f.Close()
	block := make([]byte, 4096)
	var t times
	for range n {
		begin := time.Now()
		if _, err := f.Write(block); err != nil {
			return nil, err
		}
		if err := f.Sync(); err != nil {
			return nil, err
		}
		t = append(t, time.Since(begin))
	}
	return t, nil
}

func mockThousand(ctx context.Context, b *bench) error {
	const n = 1000
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	var t times
	for i := range 5 {
		id := fmt.Sprintf("mock-%d", i)
		begin := time.Now()
		if err := register(ctx, m, testbed.Job(id, "mock", n, map[string]any{"run_for": "1h"})); err != nil {
			return err
		}
		if err := m.allRunning(ctx, id, n); err != nil {
			return err
		}
		t = append(t, time.Since(begin))
		if _, err := m.Client.Jobs().Deregister(ctx, id, purge); err != nil {
			return err
		}
		if err := m.noneRuns(ctx, id); err != nil {
			return err
		}
	}
	b.add("1,000 mock tasks in one job: all running in state", "<= 1 s", "median %s, worst %s of %d", ms(t.at(0.5)), ms(t.at(1)), len(t))
	return nil
}
