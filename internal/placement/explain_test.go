// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// explainedFleet is a node that fits, and one for each thing that may be in the
// way.
func explainedFleet() *fixture {
	f := testFleet(8)
	f.nodes[1].Status = api.NodeStatusDown
	f.nodes[2].Datacenter = "elsewhere"
	f.nodes[3].Drivers["mock"].Healthy, f.nodes[3].Drivers["mock"].HealthDescription = false, "runc is not installed"
	f.nodes[4].Attributes["kernel.name"] = "windows"
	f.nodes[5].Resources.CPU.CPUShares = 50
	f.nodes[5].Resources.Memory.MemoryMB = 100
	f.nodes[5].SchedulingEligibility = api.NodeIneligible
	f.nodes[6].NodePool = "gpu"
	for _, n := range f.nodes {
		n.ComputedClass = api.ComputeClass(n)
	}
	f.allocs = append(f.allocs, &api.Allocation{
		ID: "there", Name: "web.web[0]", Namespace: "default", JobID: "web", Group: "web", NodeID: f.nodes[7].ID,
		AllocatedResources: &api.AllocatedResources{Shared: api.AllocatedShared{Ports: []api.PortMapping{{Label: "http", Value: 8080}}}},
	})
	return f
}

func explainedJob() *api.Job {
	job := testJob(2)
	job.Datacenters = []string{"dc*"}
	job.Constraints = []*api.Constraint{
		{LTarget: "${attr.kernel.name}", Operand: "=", RTarget: "linux"},
		{Operand: api.OperandDistinctHosts},
	}
	job.Groups[0].Networks = []*api.Network{{ReservedPorts: []api.Port{{Label: "http", Value: 8080}}}}
	return job
}

func TestExplainCountsEveryObstacle(t *testing.T) {
	f, job := explainedFleet(), explainedJob()
	got := Explain(NewFleet(f).View(), &Order{Kept: f.allocs}, job, job.Groups[0])
	want := &api.GroupExplanation{
		Group: "web", Count: 2, Nodes: 8, Fitting: 1,
		Obstacles: []api.ObstacleCount{
			{Filter: api.FilterConstraint, Reason: "${attr.kernel.name} = linux", Nodes: 1},
			{Filter: api.FilterDatacenter, Reason: `datacenter "elsewhere" is not among ["dc*"]`, Nodes: 1},
			{Filter: api.FilterDistinct, Reason: "distinct_hosts", Nodes: 1},
			{Filter: api.FilterDriver, Reason: "unhealthy drivers: mock: runc is not installed", Nodes: 1},
			{Filter: api.FilterPool, Reason: `node pool "gpu" is not "default"`, Nodes: 1},
			{Filter: api.FilterPort, Reason: "port 8080 is taken", Nodes: 1},
			{Filter: api.FilterResource, Reason: "not enough cpu", Nodes: 1},
			{Filter: api.FilterResource, Reason: "not enough memory", Nodes: 1},
			{Filter: api.FilterStatus, Reason: "the node is down", Nodes: 1},
			{Filter: api.FilterStatus, Reason: "the node is ineligible", Nodes: 1},
		},
	}
	var nearest []string
	for _, n := range got.Nearest {
		nearest = append(nearest, n.NodeName)
	}
	got.Nearest = nil
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
	// Instances move more easily than nodes get up again or become larger.
	if diff := cmp.Diff([]string{"n7", "n1", "n5"}, nearest); diff != "" {
		t.Errorf("nearest (-want +got):\n%s", diff)
	}
}

func TestExplainNodeListsAllReasons(t *testing.T) {
	f, job := explainedFleet(), explainedJob()
	v := NewFleet(f).View()
	got := ExplainNode(v, &Order{Kept: f.allocs}, job, job.Groups[0], f.nodes[5].ID)
	want := &api.NodeExplanation{
		NodeID: f.nodes[5].ID, NodeName: "n5", Datacenter: "dc3", NodePool: "default", Group: "web",
		Obstacles: []api.Obstacle{
			{Filter: api.FilterStatus, Reason: "the node is ineligible"},
			{Filter: api.FilterResource, Reason: "not enough cpu", Dimension: "cpu", Needed: 100, Free: 50},
			{Filter: api.FilterResource, Reason: "not enough memory", Dimension: "memory", Needed: 128, Free: 100},
		},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("explanation (-want +got):\n%s", diff)
	}
	if got := ExplainNode(v, &Order{}, job, job.Groups[0], f.nodes[0].ID); !got.Fits || len(got.Obstacles) > 0 {
		t.Errorf("of a node that fits: %+v", got)
	}
	if got := ExplainNode(v, &Order{}, job, job.Groups[0], "nobody"); got != nil {
		t.Errorf("of a node that does not exist: %+v", got)
	}
}

// TestExplainAgreesWithPlace holds the two against each other: what fits is
// what Place would take.
func TestExplainAgreesWithPlace(t *testing.T) {
	f, job := explainedFleet(), explainedJob()
	v := NewFleet(f).View()
	for _, n := range f.nodes {
		e := ExplainNode(v, &Order{Kept: f.allocs}, job, job.Groups[0], n.ID)
		only := requests(job, 1)
		only[0].NodeID = n.ID
		out := Place(v, &Order{Requests: only, Kept: f.allocs, NewID: api.NewID, Seed: 1})
		if e.Fits != (len(out.Place) == 1) {
			t.Errorf("node %s: fits %v, obstacles %+v, placed %d", n.Name, e.Fits, e.Obstacles, len(out.Place))
		}
	}
}

// A system job wants an instance on every node that suits, whether there is
// room or not; what does not suit is no lack.
func TestExplainSystemJobCountsNodesThatSuit(t *testing.T) {
	f, job := explainedFleet(), explainedJob()
	job.Type, job.Constraints = api.JobTypeSystem, job.Constraints[:1]
	f.nodes[5].SchedulingEligibility = api.NodeEligible
	got := Explain(NewFleet(f).View(), &Order{Kept: f.allocs}, job, job.Groups[0])
	if got.Count != 3 || got.Fitting != 1 || got.Nodes != 8 {
		t.Errorf("got count %d, fitting %d of %d; want 3 (n0, n5 without room, n7), 1 of 8", got.Count, got.Fitting, got.Nodes)
	}
}
