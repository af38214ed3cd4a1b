// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/reeve-run/reeve/api"
)

// TestWhatStaysKeepsOthersAway replaces all instances of a group at once, some
// of which have no room anywhere: then what they were to replace stays, and no
// other instance may have come beside it.
func TestWhatStaysKeepsOthersAway(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		f := testFleet(rapid.IntRange(1, 6).Draw(t, "nodes"))
		for i, n := range f.nodes {
			n.Resources.CPU.CPUShares = rapid.SampledFrom([]int64{100, 150, 250}).Draw(t, "cpu")
			n.Meta = map[string]string{"rack": fmt.Sprint("r", i%2)}
			n.ComputedClass = api.ComputeClass(n)
		}
		job := testJob(6)
		g := job.Groups[0]
		perRack := rapid.IntRange(0, 2).Draw(t, "per rack")
		hosts := perRack == 0 || rapid.Bool().Draw(t, "distinct hosts")
		if hosts {
			g.Constraints = append(g.Constraints, constraint("", api.OperandDistinctHosts, "")...)
		}
		if perRack > 0 {
			g.Constraints = append(g.Constraints, constraint("${meta.rack}", api.OperandDistinctValue, fmt.Sprint(perRack))...)
		}
		g.EphemeralDisk = &api.EphemeralDisk{Sticky: new(rapid.Bool().Draw(t, "sticky"))}
		old := Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: requests(job, 6)}).Place
		f.allocs = old
		rs := requests(job, 6)
		live := map[string]*api.Allocation{}
		for i, a := range old {
			live[a.ID] = a
			if rapid.Bool().Draw(t, "system") {
				rs[i].NodeID = a.NodeID
			}
			rs[i].Previous, rs[i].Replaces = a, &Stop{Alloc: a}
		}
		out := Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: rs[:len(old)], Seed: rapid.Uint64().Draw(t, "seed")})
		for _, s := range out.Stop {
			delete(live, s.Alloc.ID)
		}
		for _, a := range out.Place {
			live[a.ID] = a
		}
		perNode, racks := map[string]int{}, map[string]int{}
		for _, a := range live {
			perNode[a.NodeID]++
			racks[NewFleet(f).View().Node(a.NodeID).Meta["rack"]]++
		}
		for node, n := range perNode {
			if hosts && n > 1 {
				t.Fatalf("%d instances are to stay on %s in spite of distinct_hosts", n, node)
			}
		}
		for rack, n := range racks {
			if perRack > 0 && n > perRack {
				t.Fatalf("%d instances are to stay in rack %s, more than %d", n, rack, perRack)
			}
		}
	})
}

// TestAnInstanceMayTakeItsPredecessorsPlace replaces the instances of a group
// that has one on every node.
func TestAnInstanceMayTakeItsPredecessorsPlace(t *testing.T) {
	f := testFleet(3)
	job := testJob(3)
	job.Groups[0].Constraints = constraint("", api.OperandDistinctHosts, "")
	f.allocs = Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: requests(job, 3)}).Place
	rs := requests(job, 3)
	for i, a := range f.allocs {
		rs[i].Previous, rs[i].Replaces = a, &Stop{Alloc: a}
	}
	out := Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: rs})
	if len(out.Place) != 3 || len(out.Stop) != 3 {
		t.Fatalf("%d are placed and %d stopped, want 3 each: %+v", len(out.Place), len(out.Stop), out.Failed)
	}
}
