// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// anyFleet draws nodes that differ in size, datacenter and rack, with something
// running on them.
func anyFleet(t *rapid.T) *fixture {
	f := &fixture{}
	for i := range rapid.IntRange(1, 12).Draw(t, "nodes") {
		n := testNode(i)
		n.Resources.CPU.CPUShares = rapid.Int64Range(100, 4000).Draw(t, "cpu")
		n.Meta = map[string]string{"rack": fmt.Sprintf("r%d", rapid.IntRange(1, 3).Draw(t, "rack"))}
		if rapid.IntRange(0, 9).Draw(t, "down") == 0 {
			n.Status = api.NodeStatusDown
		}
		n.ComputedClass = api.ComputeClass(n)
		f.nodes = append(f.nodes, n)
	}
	for i := range rapid.IntRange(0, 5).Draw(t, "running") {
		a := allocOn(fmt.Sprintf("old-%d", i), rapid.SampledFrom(f.nodes).Draw(t, "on").ID, 8000+i)
		a.AllocatedResources.Tasks["t"].CPU.CPUShares = 10
		f.allocs = append(f.allocs, a)
	}
	return f
}

// anyJob draws a job that may ask for anything.
func anyJob(t *rapid.T) *api.Job {
	job := testJob(rapid.IntRange(1, 10).Draw(t, "count"))
	g := job.Groups[0]
	g.Tasks[0].Resources.CPU = new(rapid.SampledFrom([]int{10, 100, 500}).Draw(t, "cpu"))
	add := func(what string, do func()) {
		if rapid.IntRange(0, 3).Draw(t, what) == 0 {
			do()
		}
	}
	add("constraint", func() { g.Constraints = append(g.Constraints, constraint("${meta.rack}", "!=", "r1")...) })
	add("unique", func() {
		g.Constraints = append(g.Constraints, constraint("${node.unique.name}", "regexp", "n[0-7]$")...)
	})
	add("distinct hosts", func() { g.Constraints = append(g.Constraints, constraint("", api.OperandDistinctHosts, "")...) })
	add("distinct property", func() {
		g.Constraints = append(g.Constraints, constraint("${meta.rack}", api.OperandDistinctValue, "2")...)
	})
	add("affinity", func() {
		g.Affinities = []*api.Affinity{{LTarget: "${node.datacenter}", Operand: "=", RTarget: "dc2", Weight: new(int8(60))}}
	})
	add("spread", func() { g.Spreads = []*api.Spread{{Attribute: "${node.datacenter}"}} })
	add("static port", func() {
		g.Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "s", Value: rapid.IntRange(7999, 8006).Draw(t, "port")}}}}
	})
	return job
}

// TestOnePassIsAsGoodAsManyScans compares placing instances in one pass with
// placing them one after the other, each with a scan of its own over the fleet
// that has the ones before.
func TestOnePassIsAsGoodAsManyScans(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, job := anyFleet(t), anyJob(t)
		n := rapid.IntRange(1, 15).Draw(t, "instances")
		ids := 0
		order := Order{Namespace: "default", JobID: job.ID, NewID: func() string { ids++; return fmt.Sprint(ids) }}
		together := order
		together.Requests = requests(job, n)
		out := Place(NewFleet(f).View(), &together)

		var alone []*api.Allocation
		for _, r := range requests(job, n) {
			one := order
			one.Requests, one.Kept = []*Request{r}, alone
			now := &fixture{nodes: f.nodes, allocs: append(f.allocs[:len(f.allocs):len(f.allocs)], alone...)}
			alone = append(alone, Place(NewFleet(now).View(), &one).Place...)
		}
		if len(out.Place) != len(alone) {
			t.Fatalf("%d are placed together, %d one by one", len(out.Place), len(alone))
		}
		for i, a := range out.Place {
			if a.NodeID != alone[i].NodeID {
				t.Fatalf("instance %d is on %s when placed together, on %s when placed alone", i, a.NodeID, alone[i].NodeID)
			}
		}
	})
}

// TestPlacementsHold checks what must hold of every placement: the applier
// accepts all of it, constraints are met, and what is left really has no room.
func TestPlacementsHold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f, job := anyFleet(t), anyJob(t)
		g := job.Groups[0]
		n := rapid.IntRange(1, 30).Draw(t, "instances")
		view := NewFleet(f).View()
		out := Place(view, &Order{Namespace: "default", JobID: job.ID, Requests: requests(job, n), Seed: rapid.Uint64().Draw(t, "seed")})
		if refused := Check(view, out.Place, func(string) *api.Allocation { return nil }); len(refused) > 0 {
			t.Fatalf("the applier refuses %+v", refused)
		}
		if len(out.Place)+out.Queued["web"] != n {
			t.Fatalf("of %d, %d are placed and %d queued", n, len(out.Place), out.Queued["web"])
		}
		perNode, perRack := map[string]int{}, map[string]int{}
		for _, a := range out.Place {
			node := view.Node(a.NodeID)
			if reason, ok := IsFeasible(job, g, node); !ok {
				t.Fatalf("%s is on %s in spite of %s", a.Name, node.Name, reason)
			}
			perNode[node.ID]++
			perRack[node.Meta["rack"]]++
		}
		for _, c := range g.Constraints {
			switch c.Operand {
			case api.OperandDistinctHosts:
				for node, n := range perNode {
					if n > 1 {
						t.Fatalf("%d instances on %s in spite of distinct_hosts", n, node)
					}
				}
			case api.OperandDistinctValue:
				for rack, n := range perRack {
					if n > 2 {
						t.Fatalf("%d instances in rack %s in spite of distinct_property", n, rack)
					}
				}
			}
		}
		if out.IsWhole() {
			return
		}
		if m := out.Failed["web"]; m.NodesEvaluated != m.NodesFiltered+m.NodesExhausted {
			t.Fatalf("%d nodes were evaluated, but %d filtered and %d exhausted do not explain it", m.NodesEvaluated, m.NodesFiltered, m.NodesExhausted)
		}
	})
}
