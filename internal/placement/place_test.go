// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"github.com/reeve-run/reeve/api"
)

func BenchmarkPlace(b *testing.B) {
	for _, nodes := range []int{1000, 10000} {
		for _, shape := range []string{"plain", "affinity", "spread", "constraint", "port", "distinct"} {
			b.Run(fmt.Sprintf("%s/nodes=%d", shape, nodes), func(b *testing.B) {
				fleet := NewFleet(testFleet(nodes))
				job := testJob(1000)
				g := job.Groups[0]
				switch shape {
				case "affinity":
					g.Affinities = []*api.Affinity{{LTarget: "${meta.rack}", Operand: "=", RTarget: "r3"}}
				case "spread":
					g.Spreads = []*api.Spread{{Attribute: "${node.datacenter}"}}
				case "constraint":
					g.Constraints = []*api.Constraint{{LTarget: "${attr.kernel.version}", Operand: api.OperandVersion, RTarget: ">= 5.0"}}
				case "port":
					g.Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
				case "distinct":
					g.Constraints = []*api.Constraint{{Operand: api.OperandDistinctHosts}}
				}
				order := &Order{EvalID: "e", Namespace: "default", JobID: job.ID, Requests: requests(job, 1000), Seed: 1}
				b.ReportAllocs()
				for b.Loop() {
					view := fleet.View()
					if out := Place(view, order); len(out.Place) != 1000 {
						b.Fatalf("%d placed, want 1000: %+v", len(out.Place), out.Failed["web"])
					}
				}
				b.ReportMetric(1000*float64(b.N)/b.Elapsed().Seconds(), "placements/s")
			})
		}
	}
}
