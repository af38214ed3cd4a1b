// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// place places n instances of the job, whose group may have been changed, on
// the fleet.
func place(f *fixture, job *api.Job, n int, more ...func(*Order)) *Outcome {
	o := &Order{EvalID: "eval", Namespace: job.Namespace, JobID: job.ID, Requests: requests(job, n), Now: 7}
	ids := 0
	o.NewID = func() string { ids++; return fmt.Sprintf("alloc-%04d", ids) }
	for _, change := range more {
		change(o)
	}
	return Place(NewFleet(f).View(), o)
}

// nodesOf counts allocations by node.
func nodesOf(allocs []*api.Allocation) map[string]int {
	counts := map[string]int{}
	for _, a := range allocs {
		counts[a.NodeName]++
	}
	return counts
}

func constraint(left, operand, right string) []*api.Constraint {
	return []*api.Constraint{{LTarget: left, Operand: operand, RTarget: right}}
}

func TestPlacedAllocation(t *testing.T) {
	f := testFleet(1)
	job := testJob(1)
	job.Version = 3
	g := job.Groups[0]
	g.EphemeralDisk = &api.EphemeralDisk{SizeMB: new(50)}
	g.Networks = []*api.Network{{
		ReservedPorts: []api.Port{{Label: "admin", Value: 9090}},
		DynamicPorts:  []api.Port{{Label: "http", To: 80}, {Label: "same", To: -1}},
	}}
	previous := &api.Allocation{ID: "before"}
	out := place(f, job, 1, func(o *Order) {
		o.Requests[0].Previous, o.Requests[0].Deployment = previous, "deployment"
	})
	if len(out.Place) != 1 || !out.IsWhole() {
		t.Fatalf("not placed: %+v", out)
	}
	a := out.Place[0]
	ports := a.AllocatedResources.Shared.Ports
	if len(ports) != 3 || ports[1].Value < api.DynamicPortMin || ports[2].Value > api.DynamicPortMax || ports[1].Value == ports[2].Value {
		t.Fatalf("ports are %+v", ports)
	}
	want := &api.Allocation{
		ID: "alloc-0001", Namespace: "default", EvalID: "eval", Name: "web.web[0]", NodeID: "node-00000", NodeName: "n0",
		JobID: "web", Job: job, Group: "web", DesiredStatus: "run", ClientStatus: "pending", DeploymentID: "deployment",
		PreviousAllocation: "before", CreateTime: 7, ModifyTime: 7,
		AllocatedResources: &api.AllocatedResources{
			Tasks: map[string]*api.AllocatedTask{"web": {
				CPU: api.AllocatedCPU{CPUShares: 100}, Memory: api.AllocatedMemory{MemoryMB: 128},
			}},
			Shared: api.AllocatedShared{
				DiskMB: 50,
				Ports: []api.PortMapping{
					{Label: "admin", Value: 9090, HostIP: "10.0.0.1"},
					{Label: "http", Value: ports[1].Value, To: 80, HostIP: "10.0.0.1"},
					{Label: "same", Value: ports[2].Value, To: ports[2].Value, HostIP: "10.0.0.1"},
				},
				Networks: []*api.Network{{
					IP:            "10.0.0.1",
					ReservedPorts: []api.Port{{Label: "admin", Value: 9090}},
					DynamicPorts: []api.Port{
						{Label: "http", Value: ports[1].Value, To: 80},
						{Label: "same", Value: ports[2].Value, To: ports[2].Value},
					},
				}},
			},
		},
		Metrics: a.Metrics,
	}
	if diff := cmp.Diff(want, a); diff != "" {
		t.Errorf("allocation (-want +got):\n%s", diff)
	}
	if g.Usage() != a.Usage() {
		t.Errorf("the allocation holds %+v, the group asks for %+v", a.Usage(), g.Usage())
	}
}

func TestPackingAndSpreadingOut(t *testing.T) {
	full := testNode(0)
	f := testFleet(3)
	f.allocs = []*api.Allocation{{
		ID: "other", NodeID: full.ID, ClientStatus: api.AllocClientRunning,
		AllocatedResources: &api.AllocatedResources{Tasks: map[string]*api.AllocatedTask{"t": {
			CPU: api.AllocatedCPU{CPUShares: 2000}, Memory: api.AllocatedMemory{MemoryMB: 4000},
		}}},
	}}
	if got := nodesOf(place(f, testJob(1), 1).Place); got["n0"] != 1 {
		t.Errorf("a single instance went to %v, want the fullest node n0", got)
	}
	if diff := cmp.Diff(map[string]int{"n0": 1, "n1": 1, "n2": 1}, nodesOf(place(f, testJob(3), 3).Place)); diff != "" {
		t.Errorf("instances of one group share nodes (-want +got):\n%s", diff)
	}
}

func TestPlacementIsDeterministic(t *testing.T) {
	job := testJob(50)
	job.Groups[0].Networks = []*api.Network{{DynamicPorts: []api.Port{{Label: "http"}}}}
	seeded := func(o *Order) { o.Seed = 42 }
	if diff := cmp.Diff(place(testFleet(20), job, 50, seeded), place(testFleet(20), job, 50, seeded)); diff != "" {
		t.Errorf("the same order has two outcomes:\n%s", diff)
	}
}

func TestAffinity(t *testing.T) {
	job := testJob(4)
	job.Affinities = []*api.Affinity{
		{LTarget: "${meta.rack}", Operand: "=", RTarget: "r7", Weight: new(int8(100))},
		{LTarget: "${node.unique.name}", Operand: "=", RTarget: "n3", Weight: new(int8(-50))},
	}
	for name := range nodesOf(place(testFleet(20), job, 2).Place) {
		if name != "n7" && name != "n17" {
			t.Errorf("placed on %s, want rack r7: n7 or n17", name)
		}
	}
}

func TestSpread(t *testing.T) {
	dc := func(out *Outcome) map[string]int {
		counts := map[string]int{}
		for _, a := range out.Place {
			var i int
			fmt.Sscanf(a.NodeName, "n%d", &i)
			counts[fmt.Sprintf("dc%d", i%3+1)]++
		}
		return counts
	}
	even := testJob(30)
	even.Spreads = []*api.Spread{{Attribute: "${node.datacenter}", Weight: new(int8(100))}}
	if diff := cmp.Diff(map[string]int{"dc1": 10, "dc2": 10, "dc3": 10}, dc(place(testFleet(6), even, 30))); diff != "" {
		t.Errorf("an even spread (-want +got):\n%s", diff)
	}
	aimed := testJob(10)
	aimed.Groups[0].Spreads = []*api.Spread{{Attribute: "${node.datacenter}", Targets: []*api.SpreadTarget{
		{Value: "dc1", Percent: 70}, {Value: "dc2", Percent: 20},
	}}}
	if diff := cmp.Diff(map[string]int{"dc1": 7, "dc2": 2, "dc3": 1}, dc(place(testFleet(6), aimed, 10))); diff != "" {
		t.Errorf("a spread by percent (-want +got):\n%s", diff)
	}
}

func TestDistinct(t *testing.T) {
	job := testJob(5)
	job.Groups[0].Constraints = constraint("", api.OperandDistinctHosts, "true")
	out := place(testFleet(3), job, 5)
	if diff := cmp.Diff(map[string]int{"n0": 1, "n1": 1, "n2": 1}, nodesOf(out.Place)); diff != "" {
		t.Errorf("distinct_hosts (-want +got):\n%s", diff)
	}
	if m := out.Failed["web"]; m == nil || m.ConstraintFiltered["distinct_hosts"] != 3 || m.CoalescedFailures != 1 {
		t.Errorf("distinct_hosts explains itself as %+v", m)
	}

	job = testJob(9)
	job.Constraints = constraint("${node.datacenter}", api.OperandDistinctValue, "2")
	out = place(testFleet(6), job, 9)
	if len(out.Place) != 6 || out.Queued["web"] != 3 {
		t.Errorf("distinct_property of 2 in 3 datacenters placed %d, queued %v", len(out.Place), out.Queued)
	}

	job = testJob(4)
	job.Constraints = constraint("", api.OperandDistinctHosts, "")
	kept := &api.Allocation{ID: "k", NodeID: "node-00001", Group: "another", ClientStatus: api.AllocClientRunning}
	out = place(testFleet(3), job, 4, func(o *Order) { o.Kept = []*api.Allocation{kept} })
	if diff := cmp.Diff(map[string]int{"n0": 1, "n2": 1}, nodesOf(out.Place)); diff != "" {
		t.Errorf("distinct_hosts of the job, beside another group (-want +got):\n%s", diff)
	}
}

func TestPenalisedNodesComeLast(t *testing.T) {
	penalise := func(nodes ...string) func(*Order) {
		return func(o *Order) { o.Requests[0].Penalised = nodes }
	}
	if got := nodesOf(place(testFleet(2), testJob(1), 1, penalise("node-00000")).Place); got["n1"] != 1 {
		t.Errorf("placed on %v, want n1: n0 is penalised", got)
	}
	if got := nodesOf(place(testFleet(2), testJob(1), 1, penalise("node-00000", "node-00001")).Place); len(got) != 1 {
		t.Errorf("placed on %v: where all are penalised, any will do", got)
	}
}

func TestAllAtOnce(t *testing.T) {
	job := testJob(100)
	job.Groups[0].Tasks[0].Resources.CPU = new(4000)
	out := place(testFleet(3), job, 5, func(o *Order) { o.AllAtOnce = true })
	if len(out.Place) != 0 || out.Queued["web"] != 5 {
		t.Errorf("placed %d, queued %v; want none or all", len(out.Place), out.Queued)
	}
}

func TestExplanation(t *testing.T) {
	f := testFleet(6)
	f.nodes[0] = f.nodes[0].Copy()
	f.nodes[0].SchedulingEligibility = api.NodeIneligible
	f.nodes[1] = f.nodes[1].Copy()
	f.nodes[1].NodePool = "gpu"
	f.nodes[2] = f.nodes[2].Copy()
	f.nodes[2].Datacenter = "elsewhere"
	f.nodes[3] = f.nodes[3].Copy()
	f.nodes[3].NodeClass = "small"
	for _, n := range f.nodes {
		n.ComputedClass = api.ComputeClass(n)
	}
	job := testJob(9)
	job.Datacenters = []string{"dc*"}
	job.Constraints = constraint("${node.class}", "!=", "small")
	job.Groups[0].Tasks[0].Resources.MemoryMB = new(5000)
	out := place(f, job, 4)
	want := &api.PlacementMetrics{
		NodesInPool: 5, NodePool: "default", NodesEvaluated: 3, NodesFiltered: 1, NodesExhausted: 2,
		NodesAvailable:     map[string]int{"dc1": 1, "dc2": 1, "dc3": 1},
		ClassFiltered:      map[string]int{"small": 1},
		ConstraintFiltered: map[string]int{"${node.class} != small": 1},
		DimensionExhausted: map[string]int{"memory": 2},
		ResourcesExhausted: map[string]*api.Resources{"web": job.Groups[0].Tasks[0].Resources},
		CoalescedFailures:  1,
	}
	if diff := cmp.Diff(want, out.Failed["web"]); diff != "" {
		t.Errorf("why two instances were not placed (-want +got):\n%s", diff)
	}
	eligible := map[string]bool{}
	for _, n := range f.nodes {
		eligible[n.Name] = out.ClassEligibility[n.ComputedClass]
	}
	if diff := cmp.Diff(map[string]bool{"n0": true, "n1": false, "n2": false, "n3": false, "n4": true, "n5": true}, eligible); diff != "" {
		t.Errorf("which classes could help (-want +got):\n%s", diff)
	}
	if out.Escaped {
		t.Error("nothing unique is asked for, and yet any node could help")
	}
	job.Constraints = constraint("${node.unique.name}", "=", "n99")
	if out = place(f, job, 1); !out.Escaped {
		t.Error("a constraint on something unique does not escape the class")
	}
}

func TestScoresAreKept(t *testing.T) {
	out := place(testFleet(10), testJob(1), 1)
	scores := out.Place[0].Metrics.ScoreMetaData
	if len(scores) != explained || scores[0].NodeID != out.Place[0].NodeID {
		t.Fatalf("scores are %+v, the allocation is on %s", scores, out.Place[0].NodeID)
	}
	if !slices.IsSortedFunc(scores, func(a, b *api.NodeScore) int { return -cmpFloat(a.NormScore, b.NormScore) }) {
		t.Errorf("scores are not in order: %+v", scores)
	}
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}
