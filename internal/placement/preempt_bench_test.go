// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// fullFleet has nodes that are full of ten allocations each, of jobs of several
// priorities.
func fullFleet(nodes int) (f *fixture, held func(string) iter.Seq[*api.Allocation]) {
	f = testFleet(nodes)
	var jobs []*api.Job
	for i := range 40 {
		jobs = append(jobs, jobOf(fmt.Sprintf("job-%d", i), 10+i, 1))
	}
	on := make(map[string][]*api.Allocation, nodes)
	for i, n := range f.nodes {
		for k := range 10 {
			a := taken(fmt.Sprintf("alloc-%06d-%d", i, k), jobs[(7*i+3*k)%len(jobs)], n, 400, 800, 0)
			f.allocs, on[n.ID] = append(f.allocs, a), append(on[n.ID], a)
		}
	}
	return f, func(id string) iter.Seq[*api.Allocation] { return slices.Values(on[id]) }
}

// BenchmarkPreempt places instances that need the room of two allocations on a
// full fleet.
func BenchmarkPreempt(b *testing.B) {
	for _, nodes := range []int{1000, 10_000} {
		f, held := fullFleet(nodes)
		v := NewFleet(f).View()
		for _, count := range []int{1, 100} {
			b.Run(fmt.Sprintf("nodes=%d/instances=%d", nodes, count), func(b *testing.B) {
				job := jobOf("urgent", 80, -1)
				job.Groups[0].Tasks[0].Resources = &api.Resources{CPU: new(700), MemoryMB: new(1200)}
				b.ReportAllocs()
				for range b.N {
					out := Place(v, &Order{Namespace: "default", JobID: "urgent", Requests: requests(job, count), Policy: Policy{Held: held}})
					if len(out.Place) != count || len(out.Preempt) != 2*count {
						b.Fatalf("placed %d, preempted %d", len(out.Place), len(out.Preempt))
					}
				}
				b.ReportMetric(float64(count*b.N)/b.Elapsed().Seconds(), "placements/s")
			})
		}
	}
}
