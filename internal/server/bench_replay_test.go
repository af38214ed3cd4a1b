// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package server_test

import (
	"fmt"
	"iter"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/placement"
	"github.com/reeve-run/reeve/internal/plan"
	"github.com/reeve-run/reeve/internal/server"
	"github.com/reeve-run/reeve/internal/server/fleet"
	"github.com/reeve-run/reeve/internal/server/worker"
	"github.com/reeve-run/reeve/internal/state"
)

// BenchmarkReplay places b.N jobs of 1,000 instances each on 6,100 nodes, from
// evaluations that are pending to allocations that are on the disk and in the
// state. With -benchtime 2000x it is two million of them.
func BenchmarkReplay(b *testing.B) {
	dir := b.TempDir()
	await(b, dir, 6_100, b.N, 1_000)
	c, err := server.New(silent(b, dir))
	if err != nil {
		b.Fatal(err)
	}
	sub := c.Store().Subscribe()
	defer sub.Close()
	runtime.GC()
	heap := heapInUse()
	before := costsOf(c.Replica())
	if err := c.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	(&workload{Subscription: sub}).until(b, b.N, 1_000*b.N)
	b.StopTimer()
	before.reportSince(b, c.Replica(), "alloc", 1_000*b.N)
	b.ReportMetric(peakMemory(b)/(1<<20), "peak-MB")
	runtime.GC()
	b.ReportMetric((heapInUse()-heap)/float64(1_000*b.N), "kept-B/alloc")
	if err := c.Shutdown(b.Context()); err != nil {
		b.Fatal(err)
	}
}

func heapInUse() float64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return float64(m.HeapAlloc)
}

// peakMemory is the most memory that the process has had, in bytes.
func peakMemory(b *testing.B) float64 {
	b.Helper()
	text, err := os.ReadFile("/proc/self/status")
	if err != nil {
		b.Fatal(err)
	}
	_, after, _ := strings.Cut(string(text), "VmHWM:")
	var kb float64
	if _, err := fmt.Sscan(after, &kb); err != nil {
		b.Fatal(err)
	}
	return kb * 1024
}

// BenchmarkPipelineService works out one evaluation of a service of 1,000
// instances on 10,000 nodes: plan, place and the applier's check, in memory.
func BenchmarkPipelineService(b *testing.B) {
	store := state.New()
	for i := 0; i < 10_000; {
		var cmds []state.Command
		for ; i < 10_000 && len(cmds) < 1000; i++ {
			cmds = append(cmds, &state.RegisterNode{Node: fleetNode(i)})
		}
		store.Apply(store.Index()+1, cmds)
	}
	job := serviceJob("web", 1_000)
	job.Canonicalize()
	store.Apply(store.Index()+1, []state.Command{&state.RegisterJob{Job: job}})
	f := fleet.New()
	go func() { _ = f.Run(b.Context(), store) }()
	snap := store.Snapshot()
	if err := f.Wait(b.Context(), snap.Index()); err != nil {
		b.Fatal(err)
	}
	stored := snap.Job("default", "web")
	eval := &api.Evaluation{ID: api.NewID(), Namespace: "default", JobID: "web", Type: job.Type}
	b.ReportAllocs()
	for b.Loop() {
		var result *plan.Result
		var outcome *placement.Outcome
		err := f.Claim(b.Context(), snap.Index(), func(v *placement.View) []*api.Allocation {
			result, outcome = worker.Compute(snap, v, stored, eval, time.Now())
			return outcome.Place
		})
		if err != nil || len(outcome.Place) != 1_000 || result == nil {
			b.Fatalf("%d placed, %v", len(outcome.Place), err)
		}
		var accepted []*api.Allocation
		err = f.Settle(b.Context(), snap.Index(), outcome.Place, outcome.Place, snap.Allocation, func(refused []placement.Refusal, _ iter.Seq[*api.Allocation]) []*api.Allocation {
			if len(refused) > 0 {
				b.Fatalf("refused: %v", refused)
			}
			accepted = outcome.Place
			return accepted
		})
		if err != nil {
			b.Fatal(err)
		}
		f.Release(accepted)
	}
	b.ReportMetric(1_000*float64(b.N)/b.Elapsed().Seconds(), "placements/s")
}
