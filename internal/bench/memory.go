// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"os"
	"time"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/testbed"
)

var purge = client.DeregisterOptions{Purge: true}

func binarySize(_ context.Context, b *bench) error {
	info, err := os.Stat(b.reeve)
	if err != nil {
		return err
	}
	b.add("binary, stripped", "<= 40 MB", "%.1f MB", float64(info.Size())/1e6)
	return nil
}

func startTime(ctx context.Context, b *bench) error {
	var answers, ready times
	for range 10 {
		m, err := b.machine(ctx)
		if err != nil {
			return err
		}
		answers, ready = append(answers, m.answers), append(ready, m.ready)
		m.Destroy()
	}
	b.add("start -> the API answers", "<= 300 ms", "%s", answers)
	b.add("start -> the node takes work", "<= 500 ms", "%s", ready)
	return nil
}

// settle is the time in which an idle process returns unused memory.
const settle = 10 * time.Second

func idleMemory(ctx context.Context, b *bench) error {
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	if err := pause(ctx, settle); err != nil {
		return err
	}
	b.add("server + agent + supervisor, idle", "<= 60 MB RSS", "%.1f MB RSS", float64(m.ownMemory())/1e6)
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func taskMemory(ctx context.Context, b *bench) error {
	const n = 1000
	m, err := b.machine(ctx)
	if err != nil {
		return err
	}
	defer m.Destroy()
	if err := pause(ctx, settle); err != nil {
		return err
	}
	before := m.ownMemory()
	begin := time.Now()
	if err := register(ctx, m, testbed.Job("sleep", "raw_exec", n, sleepForever)); err != nil {
		return err
	}
	if err := m.allRunning(ctx, "sleep", n); err != nil {
		return err
	}
	took := time.Since(begin)
	if err := pause(ctx, settle); err != nil {
		return err
	}
	each := float64(m.ownMemory()-before) / n
	b.add("1,000 raw_exec sleep tasks: memory outside the tasks", "<= 100 KB each", "%.1f KB each", each/1e3)
	b.add("1,000 raw_exec sleep tasks: all running in state", "", "%s", ms(took))
	return nil
}

// stateBars lists the metrics of the store's benchmarks that are shown, with their targets.
var stateBars = []struct{ benchmark, metric, what, bar string }{
	{"StoreMillion/memory", "B/alloc-beyond", "1,000,000 allocations: memory beyond the objects", "<= 500 B each"},
	{"StoreMillion/memory", "B/alloc-object", "1,000,000 allocations: the objects themselves", ""},
	{"StoreMillion/memory", "gc-mark-ms", "1,000,000 allocations: full collection", "<= 150 ms"},
	{"StoreMillion/memory", "gc-mark-objects-cpu-ms", "... processor time for the objects alone, without the store", ""},
	{"StoreMillion/snapshot", "ns/op", "1,000,000 allocations: apply, publish, snapshot", "<= 5,000 ns"},
	{"StoreInsert/held=100000", "allocs/s", "insert allocations, batches of 1,000, 100,000 held", ">= 400,000/s"},
	{"StoreSnapshotFile/write", "MB", "snapshot of 100,000 running allocations: size", "<= 30 MB"},
	{"StoreSnapshotFile/restore", "ns/op", "... restored", "<= 300,000,000 ns"},
}

// stateBenchmarks runs the store's benchmarks and shows their metrics.
func stateBenchmarks(ctx context.Context, b *bench) error {
	m := metrics{}
	for _, run := range [][2]string{{"StoreMillion", "20000x"}, {"StoreInsert", "200x"}, {"StoreSnapshotFile", "10x"}} {
		if err := m.run(ctx, "internal/state", run[0], run[1]); err != nil {
			return err
		}
	}
	for _, s := range stateBars {
		value, err := m.of(s.benchmark, s.metric)
		if err != nil {
			return err
		}
		b.add("state: "+s.what, s.bar, "%s %s", amount(value), s.metric)
	}
	return nil
}
