// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
)

// BenchmarkPlace places 1,000 instances of one group of a service on an empty
// fleet.
func BenchmarkPlace(b *testing.B) {
	for _, nodes := range []int{1000, 10000} {
		for _, shape := range []string{"plain", "affinity", "spread", "constraint", "port", "distinct"} {
			b.Run(fmt.Sprintf("%s/nodes=%d", shape, nodes), func(b *testing.B) {
				fleet := NewFleet(testFleet(nodes))
				job := shaped(shape, 1000)
				order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(job, 1000), Seed: 1}
				b.ReportAllocs()
				for b.Loop() {
					if out := Place(fleet.View(), order); len(out.Place) != 1000 {
						b.Fatalf("%d placed, want 1000: %+v", len(out.Place), out.Failed["web"])
					}
				}
				b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "placements/s")
			})
		}
	}
}

// BenchmarkPlaceOne places the single instance of one batch job, as thousands
// of small jobs do.
func BenchmarkPlaceOne(b *testing.B) {
	for _, nodes := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			fleet := NewFleet(testFleet(nodes))
			job := testJob(1)
			order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(job, 1), Seed: 1}
			b.ReportAllocs()
			for b.Loop() {
				if out := Place(fleet.View(), order); len(out.Place) != 1 {
					b.Fatal("not placed")
				}
			}
		})
	}
}

// BenchmarkPlaceSystem places one instance of a system job on every node.
func BenchmarkPlaceSystem(b *testing.B) {
	for _, nodes := range []int{1000, 10000} {
		b.Run(fmt.Sprintf("nodes=%d", nodes), func(b *testing.B) {
			src := testFleet(nodes)
			fleet := NewFleet(src)
			job := testJob(1)
			job.Type = api.JobTypeSystem
			order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: pinned(job, src.nodes), Seed: 1}
			b.ReportAllocs()
			for b.Loop() {
				if out := Place(fleet.View(), order); len(out.Place) != nodes {
					b.Fatalf("%d placed, want %d: %+v", len(out.Place), nodes, out.Failed["web"])
				}
			}
			b.ReportMetric(float64(nodes)*float64(b.N)/b.Elapsed().Seconds(), "placements/s")
		})
	}
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
	}
	return job
}
