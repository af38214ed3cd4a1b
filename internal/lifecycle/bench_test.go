// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package lifecycle_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/lifecycle"
)

// largeFleet returns 10,000 stacks in 2,000 units with 8,000 dependencies.
func largeFleet(b *testing.B) lifecycle.Input {
	f := newFleet(b)
	for unit := range 2000 {
		for minor := range 5 {
			name := fmt.Sprintf("unit-%d 1.%d.0", unit, minor)
			f.stack(name, func(s *api.Stack) {
				if minor > 0 && unit > 0 {
					s.Spec.Depends = append(s.Spec.Depends, &api.StackDependency{Unit: fmt.Sprintf("unit-%d", unit/2), Version: fmt.Sprintf("1.%d", minor)})
				}
			})
		}
	}
	b.ResetTimer()
	return f.in
}

func BenchmarkIndex(b *testing.B) {
	in := largeFleet(b)
	b.ReportAllocs()
	for b.Loop() {
		lifecycle.NewIndex(in)
	}
}

// BenchmarkSweep measures a whole sweep, with its graph. Target: 100 ms.
func BenchmarkSweep(b *testing.B) {
	in := largeFleet(b)
	b.ReportAllocs()
	for b.Loop() {
		lifecycle.NewIndex(in).SweepStacks(lifecycle.Sweeping{Now: start.Add(10 * time.Minute), Interval: 10 * time.Minute, Last: start})
	}
}

// BenchmarkGraph measures the whole graph. Target: 50 ms.
func BenchmarkGraph(b *testing.B) {
	in := largeFleet(b)
	edges := 0
	for b.Loop() {
		edges = len(lifecycle.NewIndex(in).Edges(start))
	}
	b.ReportMetric(float64(edges), "edges")
}

// BenchmarkResolve measures one resolution from a nested namespace. Target: 5 us.
func BenchmarkResolve(b *testing.B) {
	x := lifecycle.NewIndex(largeFleet(b))
	b.ReportAllocs()
	for b.Loop() {
		if t := x.Resolve("dev/sandbox/alice", "unit-1234", api.FeatureVersion{Major: 1, Minor: 2}); t.Stack == nil {
			b.Fatal("unresolved")
		}
	}
}
