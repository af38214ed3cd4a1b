// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// TestPinnedGoesToItsNodeOrNowhere asks for an instance on each of a number of
// nodes, each with another obstacle, and looks at where they went and what is
// said of the rest.
func TestPinnedGoesToItsNodeOrNowhere(t *testing.T) {
	f := testFleet(8)
	f.nodes[1].Status = api.NodeStatusDown
	f.nodes[2].Attributes = map[string]string{"kernel.name": "plan9"}
	f.nodes[3].Resources.CPU.CPUShares = 50
	f.nodes[4].Reserved = &api.NodeReserved{Networks: api.NodeReservedNetworks{ReservedHostPorts: "8080"}}
	f.nodes[5].NodePool = "other"
	f.nodes[6].Datacenter = "elsewhere"
	for _, n := range f.nodes {
		n.ComputedClass = api.ComputeClass(n)
	}
	job := testJob(1)
	job.Datacenters = []string{"dc*"}
	g := job.Groups[0]
	g.Constraints = constraint("${attr.kernel.name}", "=", "linux")
	g.Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: 8080}}}}
	rs := pinned(job, append(f.nodes, &api.Node{ID: "never-heard-of"}))
	out := Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: rs})

	var on []string
	for _, a := range out.Place {
		on = append(on, a.NodeID)
	}
	if diff := cmp.Diff([]string{f.nodes[0].ID, f.nodes[7].ID}, on); diff != "" {
		t.Errorf("placed on (-want +got):\n%s", diff)
	}
	if out.Queued["web"] != 7 {
		t.Errorf("%d are queued, want 7", out.Queued["web"])
	}
	m := out.Failed["web"]
	if m == nil {
		t.Fatal("nothing is said of the failures")
	}
	want := map[string]int{
		"${attr.kernel.name} = linux": 1, "the node is not registered": 1,
		"the node takes no new allocations (status down, eligible)": 1,
		`node pool "other" is not "default"`:                        1,
		`datacenter "elsewhere" is not among ["dc*"]`:               1,
	}
	if diff := cmp.Diff(want, m.ConstraintFiltered); diff != "" {
		t.Errorf("filtered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(map[string]int{"cpu": 1, "network: reserved port collision": 1}, m.DimensionExhausted); diff != "" {
		t.Errorf("exhausted (-want +got):\n%s", diff)
	}
	if got := [3]int{m.NodesEvaluated, m.NodesFiltered, m.NodesExhausted}; got != [3]int{7, 5, 2} || m.CoalescedFailures != 6 {
		t.Errorf("evaluated, filtered, exhausted = %v with %d failures coalesced, want [7 5 2] with 6", got, m.CoalescedFailures)
	}
	for class, could := range map[string]bool{
		f.nodes[3].ComputedClass: true, f.nodes[2].ComputedClass: false, f.nodes[1].ComputedClass: true,
	} {
		if got, looked := out.ClassEligibility[class]; !looked || got != could {
			t.Errorf("a change of class %s would help: %v (looked at: %v), want %v", class, got, looked, could)
		}
	}
}

// TestPinnedKeepsDistinctRules pins two instances of a group with distinct_hosts
// to one node.
func TestPinnedKeepsDistinctRules(t *testing.T) {
	f, job := testFleet(2), testJob(2)
	job.Groups[0].Constraints = constraint("", api.OperandDistinctHosts, "")
	rs := pinned(job, []*api.Node{f.nodes[0], f.nodes[0], f.nodes[1]})
	out := Place(NewFleet(f).View(), &Order{Namespace: "default", JobID: job.ID, Requests: rs})
	if len(out.Place) != 2 || out.Failed["web"].ConstraintFiltered[api.OperandDistinctHosts] != 1 {
		t.Errorf("%d are placed, and of the rest is said: %+v", len(out.Place), out.Failed["web"])
	}
}
