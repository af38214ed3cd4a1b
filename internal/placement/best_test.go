// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// manyNodes draws a fleet large enough for the index to have branches: nodes of
// several sizes and classes, filled to any degree.
func manyNodes(t *rapid.T) *fixture {
	f := &fixture{}
	sizes := rapid.SliceOfN(rapid.Int64Range(200, 8000), 1, 3).Draw(t, "sizes")
	racks := rapid.SampledFrom([]int{1, 3, 90}).Draw(t, "racks")
	levels := rapid.SampledFrom([]int64{1, 4, 1000}).Draw(t, "levels")
	for i := range rapid.SampledFrom([]int{5, 40, 300}).Draw(t, "nodes") {
		n := testNode(i)
		// Drawing each value would make the search for a small example slow.
		mix := uint64(i+1) * 0x9e3779b97f4a7c15 >> 20
		n.Resources.CPU.CPUShares = sizes[mix%uint64(len(sizes))]
		n.Resources.Memory.MemoryMB = 2 * sizes[mix>>3%uint64(len(sizes))]
		n.Meta = map[string]string{"rack": fmt.Sprintf("r%d", i%racks)}
		n.ComputedClass = api.ComputeClass(n)
		f.nodes = append(f.nodes, n)
		if held := int64(mix>>8) % levels; held > 0 {
			a := allocOn(fmt.Sprintf("old-%d", i), n.ID, 0)
			a.AllocatedResources.Tasks["t"].CPU.CPUShares = n.Resources.CPU.CPUShares * held / levels
			a.AllocatedResources.Tasks["t"].Memory.MemoryMB = n.Resources.Memory.MemoryMB * (int64(mix>>30) % levels) / levels
			f.allocs = append(f.allocs, a)
		}
	}
	return f
}

// TestEveryInstanceGoesToTheBestNode places instances, and compares the node of
// each with all others, scored one by one as they were at that moment.
func TestEveryInstanceGoesToTheBestNode(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := manyNodes(t)
		job := anyJob(t)
		n := rapid.SampledFrom([]int{1, 12}).Draw(t, "instances")
		order := Order{
			Namespace: "default", JobID: job.ID, Requests: requests(job, n), Seed: rapid.Uint64().Draw(t, "seed"),
			Policy: Policy{Algorithm: rapid.SampledFrom([]string{"", api.AlgorithmSpread}).Draw(t, "algorithm")},
		}
		out := Place(NewFleet(f).View(), &order)
		now := &fixture{nodes: f.nodes, allocs: f.allocs}
		for i, a := range out.Place {
			then := order
			then.Requests, then.Kept = order.Requests[i:i+1], out.Place[:i]
			now.allocs = slices.Concat(f.allocs, out.Place[:i])
			best, chosen := scores(NewFleet(now).View(), &then, a.NodeID)
			if math.Abs(best-chosen) > 1e-9 {
				t.Fatalf("instance %d is on a node of score %g, the best has %g", i, chosen, best)
			}
		}
		if len(out.Place) == n {
			return
		}
		then := order
		then.Kept = out.Place
		now.allocs = slices.Concat(f.allocs, out.Place)
		if best, _ := scores(NewFleet(now).View(), &then, ""); !math.IsInf(best, -1) {
			t.Fatalf("an instance is not placed, though a node of score %g can take it", best)
		}
	})
}

// scores looks at every node: what the best is worth to the order's first
// request, and what the node of that id is.
func scores(v *View, o *Order, nodeID string) (best, of float64) {
	b := newPass(v, o).newBatch(o.Requests[:1], false)
	b.scan()
	least := b.lowestLoads(nil)
	best, of = math.Inf(-1), math.Inf(-1)
	for _, bk := range b.buckets {
		if b.exhaustedProperty(bk) != "" {
			continue
		}
		for i := range *bk.heap {
			c := &(*bk.heap)[i]
			score := c.score + b.spreadScore(bk, least)
			best = max(best, score)
			if n, _ := b.node(c.slot); n.ID == nodeID {
				of = score
			}
		}
	}
	return best, of
}

// TestWhatIsRememberedIsTrue places jobs on a fleet that knows the rules of
// others already, while its nodes change, and on one made from nothing.
func TestWhatIsRememberedIsTrue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := anyFleet(t)
		fleet := NewFleet(f)
		for range rapid.IntRange(1, 8).Draw(t, "rounds") {
			if i := rapid.IntRange(0, 2*len(f.nodes)).Draw(t, "changed"); i < len(f.nodes) {
				n := *f.nodes[i]
				n.Meta = map[string]string{"rack": fmt.Sprintf("r%d", rapid.IntRange(1, 5).Draw(t, "rack"))}
				n.Status = rapid.SampledFrom([]string{api.NodeStatusReady, api.NodeStatusDown}).Draw(t, "status")
				n.ComputedClass = api.ComputeClass(&n)
				fleet.Change(f.nodes[i], &n)
				f.nodes[i] = &n
			}
			job := anyJob(t)
			ids := 0
			order := &Order{
				Namespace: "default", JobID: job.ID, Requests: requests(job, rapid.IntRange(1, 5).Draw(t, "instances")),
				NewID: func() string { ids++; return fmt.Sprint(ids) },
			}
			out := Place(fleet.View(), order)
			ids = 0
			fresh := Place(NewFleet(f).View(), order)
			if len(out.Place) != len(fresh.Place) {
				t.Fatalf("%d are placed, %d on a fresh fleet", len(out.Place), len(fresh.Place))
			}
			for i, a := range out.Place {
				if a.NodeID != fresh.Place[i].NodeID {
					t.Fatalf("instance %d is on %s, on a fresh fleet it is on %s", i, a.NodeID, fresh.Place[i].NodeID)
				}
			}
			for group, m := range out.Failed {
				was := fresh.Failed[group]
				if m.NodesEvaluated != was.NodesEvaluated || m.NodesFiltered != was.NodesFiltered || m.NodesExhausted != was.NodesExhausted || m.NodesInPool != was.NodesInPool {
					t.Fatalf("the failure is explained by %+v, on a fresh fleet by %+v", m, was)
				}
			}
		}
	})
}
