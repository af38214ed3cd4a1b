// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"runtime"
	"slices"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// BenchmarkPlace places 1,000 instances of one group of a service, in one
// evaluation, on a fleet of which a third is in use.
func BenchmarkPlace(b *testing.B) {
	for _, nodes := range []int{2000, 10000, 100000} {
		for _, shape := range []string{"plain", "affinity", "spread", "constraint", "port", "distinct", "everything"} {
			b.Run(fmt.Sprintf("%s/nodes=%d", shape, nodes), func(b *testing.B) {
				view := NewFleet(inUse(nodes)).View()
				job := shaped(shape, 1000)
				order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(job, 1000), Seed: 1}
				b.ReportAllocs()
				measure(b, 1000, func() {
					if out := Place(view, order); len(out.Place) != 1000 {
						b.Fatalf("%d placed, want 1000: %+v", len(out.Place), out.Failed["web"])
					}
				})
			})
		}
	}
}

// BenchmarkPlaceOne places the single instance of one batch job after the other
// on a fleet of which a third is in use, each on a view that has the ones
// before. The cost of views, and of what changes in the index, is part of it.
func BenchmarkPlaceOne(b *testing.B) {
	for _, shape := range []string{"plain", "constraint", "spread"} {
		for _, nodes := range []int{1000, 10000, 100000} {
			b.Run(fmt.Sprintf("%s/nodes=%d", shape, nodes), func(b *testing.B) {
				fleet := NewFleet(inUse(nodes))
				job := shaped(shape, 1)
				order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(job, 1)}
				fleet.View()
				var running []*api.Allocation
				b.ReportAllocs()
				measure(b, 1, func() {
					order.Seed++
					out := Place(fleet.View(), order)
					if len(out.Place) != 1 {
						b.Fatal("not placed")
					}
					fleet.Change((*api.Allocation)(nil), out.Place[0])
					if running = append(running, out.Place[0]); len(running) == 5000 {
						b.StopTimer()
						for _, a := range running {
							fleet.Change(a, (*api.Allocation)(nil))
						}
						running = running[:0]
						fleet.View()
						b.StartTimer()
					}
				})
			})
		}
	}
}

// BenchmarkPlaceSystem places one instance of a system job on every node.
func BenchmarkPlaceSystem(b *testing.B) {
	for _, nodes := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			src := testFleet(nodes)
			view := NewFleet(src).View()
			job := testJob(1)
			job.Type = api.JobTypeSystem
			order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: pinned(job, src.nodes), Seed: 1}
			b.ReportAllocs()
			measure(b, nodes, func() {
				if out := Place(view, order); len(out.Place) != nodes {
					b.Fatalf("%d placed, want %d: %+v", len(out.Place), nodes, out.Failed["web"])
				}
			})
		})
	}
}

// BenchmarkPlaceNowhere looks for a node for an instance that is too large for
// any, and explains why there is none.
func BenchmarkPlaceNowhere(b *testing.B) {
	for _, nodes := range []int{1000, 10000, 100000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			view := NewFleet(inUse(nodes)).View()
			job := testJob(1)
			job.Groups[0].Tasks[0].Resources.CPU = new(1 << 20)
			order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(job, 1)}
			b.ReportAllocs()
			for b.Loop() {
				if out := Place(view, order); len(out.Place) > 0 {
					b.Fatal("placed")
				}
			}
		})
	}
}

// measure runs f, which places n instances, and reports what one takes.
func measure(b *testing.B, n int, f func()) {
	f() // what is remembered of the rules is there from the second evaluation on
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	b.ResetTimer()
	rounds := 0
	for b.Loop() {
		f()
		rounds++
	}
	runtime.ReadMemStats(&after)
	placed := float64(n * rounds)
	b.ReportMetric(placed/b.Elapsed().Seconds(), "placements/s")
	b.ReportMetric(float64(after.TotalAlloc-before.TotalAlloc)/placed, "B/placement")
	b.ReportMetric(float64(after.Mallocs-before.Mallocs)/placed, "objects/placement")
}

// inUse is a fleet of the nodes, a third of which hold something: from a tenth
// of their room to all of it.
func inUse(nodes int) *fixture {
	f := testFleet(nodes)
	for i, n := range f.nodes {
		if i%3 > 0 {
			continue
		}
		a := allocOn(fmt.Sprintf("old-%d", i), n.ID, 8000)
		a.AllocatedResources.Tasks["t"].CPU.CPUShares = int64(400 * (1 + i/3%10))
		a.AllocatedResources.Tasks["t"].Memory.MemoryMB = int64(800 * (1 + i/7%10))
		f.allocs = append(f.allocs, a)
	}
	return f
}

// BenchmarkCheck re-checks 1,000 placements on 1,000 nodes.
func BenchmarkCheck(b *testing.B) {
	fleet := NewFleet(testFleet(1000))
	job := shaped("port", 1000)
	out := Place(fleet.View(), &Order{Namespace: "default", JobID: job.ID, Requests: requests(job, 1000)})
	view := fleet.View()
	none := func(string) *api.Allocation { return nil }
	b.ReportAllocs()
	for b.Loop() {
		if refused := Check(view, out.Place, none); len(refused) > 0 {
			b.Fatal(refused)
		}
	}
	b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "allocations/s")
}

// shaped is a job that asks for something special of its nodes.
func shaped(shape string, count int) *api.Job {
	job := testJob(count)
	g := job.Groups[0]
	switch shape {
	case "affinity":
		g.Affinities = []*api.Affinity{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r3"}}
	case "spread":
		g.Spreads = []*api.Spread{{Attribute: "${node.datacenter}"}}
	case "constraint":
		g.Constraints = constraint("${attr.kernel.version}", api.OperandVersion, ">= 5.0")
	case "port":
		g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	case "distinct":
		g.Constraints = constraint("", api.OperandDistinctHosts, "true")
	case "everything":
		// What hurts others most: a regular expression and a version, a static
		// port, no two on one node, and a device.
		g.Constraints = slices.Concat(
			constraint("${attr.kernel.name}", api.OperandRegexp, "^lin"),
			constraint("${attr.kernel.version}", api.OperandVersion, ">= 5.0, < 7"),
			constraint("", api.OperandDistinctHosts, "true"))
		g.Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: 8080}}}}
		g.Tasks[0].Resources.Devices = []*api.DeviceRequest{{Name: "gpu", Count: new(uint64(1))}}
	}
	return job
}
