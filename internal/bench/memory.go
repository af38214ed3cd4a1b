// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
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

// settle gives an idle process time to hand unused memory back.
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

// stateBenchmarks runs the store's own benchmarks and shows their metrics.
func stateBenchmarks(ctx context.Context, b *bench) error {
	cmd := exec.CommandContext(ctx, "go", "test", "./internal/state/...", "-run", "^$", "-bench", "Million", "-benchtime", "1x", "-timeout", "10m")
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", runtime.NumCPU()))
	out, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	bars := map[string]string{"B/alloc": "<= 500 B beyond the object", "snapshot-ns": "<= 5 us", "mark-ms": "<= 150 ms", "inserts/s": ">= 400,000/s"}
	for line := range strings.Lines(string(out)) {
		f := strings.Fields(line)
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") {
			continue
		}
		name := strings.TrimPrefix(f[0], "Benchmark")
		for i := 2; i+1 < len(f); i += 2 {
			if bar, ok := bars[f[i+1]]; ok {
				b.add("state: "+name, bar, "%s %s", f[i], f[i+1])
			}
		}
	}
	return nil
}
