// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/reeve-run/reeve/api"
)

// allocOn is a running allocation of 1,000 MHz and 1,000 MB that owns ports.
func allocOn(id, node string, ports ...int) *api.Allocation {
	a := &api.Allocation{
		ID: id, NodeID: node, ClientStatus: api.AllocClientRunning, DesiredStatus: api.AllocDesiredRun,
		AllocatedResources: &api.AllocatedResources{Tasks: map[string]*api.AllocatedTask{"t": {
			CPU: api.AllocatedCPU{CPUShares: 1000}, Memory: api.AllocatedMemory{MemoryMB: 1000},
		}}},
	}
	for _, p := range ports {
		a.AllocatedResources.Shared.Ports = append(a.AllocatedResources.Shared.Ports, api.PortMapping{Value: p})
	}
	return a
}

func with(a *api.Allocation, status string) *api.Allocation {
	c := a.Copy()
	c.ClientStatus = status
	return c
}

func TestFleetFollowsChanges(t *testing.T) {
	const node = "node-00000"
	f := NewFleet(testFleet(1))
	a, b := allocOn("a", node, 8080), allocOn("b", node)
	var none *api.Allocation
	cpu := func(want int64, when string) {
		t.Helper()
		if got := f.View().Used(node).CPU; got != want {
			t.Errorf("%s: %d MHz are used, want %d", when, got, want)
		}
	}
	f.Change(none, a)
	cpu(1000, "one runs")
	before := f.View()
	f.Change(none, b)
	cpu(2000, "two run")
	f.Change(a, with(a, api.AllocClientRunning))
	cpu(2000, "an update that changes nothing")
	f.Change(a, with(a, api.AllocClientFailed))
	cpu(1000, "one failed")
	f.Change(with(a, api.AllocClientFailed), none)
	cpu(1000, "the failed one was collected")
	f.Change(b, none)
	cpu(0, "all are gone")
	f.Change(nil, nil)
	f.Change(&api.Job{}, &api.Job{})
	if got := before.Used(node).CPU; got != 1000 {
		t.Errorf("an old view changed: %d MHz, want 1000", got)
	}
	if p, i := before.at(node); !p.ports[i].has(8080) {
		t.Error("an old view lost a port")
	}
	if p, i := f.View().at(node); p.ports[i].has(8080) {
		t.Error("a port is still taken after its allocation failed")
	}
}

func TestFleetOutlivesItsNodes(t *testing.T) {
	f := NewFleet(&fixture{})
	a := allocOn("a", "node-00000")
	var none *api.Allocation
	var noNode *api.Node
	f.Change(none, a) // its node is registered later
	n := testNode(0)
	f.Change(noNode, n)
	if got := f.View().Used(n.ID).CPU; got != 1000 {
		t.Errorf("%d MHz are used on a node that came after its allocation, want 1000", got)
	}
	f.Change(n, noNode)
	if f.View().Node(n.ID) != nil {
		t.Error("a deleted node is still there")
	}
	f.Change(noNode, n)
	if got := f.View().Used(n.ID).CPU; got != 1000 {
		t.Errorf("%d MHz are used on a node that came back, want 1000", got)
	}
	f.Change(n, noNode)
	f.Change(a, none)
	other := testNode(1)
	f.Change(noNode, other)
	if f.nodes != 1 {
		t.Errorf("%d slots for one node: that of a forgotten one was not given on", f.nodes)
	}
	if got := f.View().Used(other.ID); got != (api.Usage{}) {
		t.Errorf("the node in a forgotten one's slot holds %+v", got)
	}
}

func TestReservations(t *testing.T) {
	const node = "node-00000"
	f := NewFleet(testFleet(1))
	a, b := allocOn("a", node, 80), allocOn("b", node, 81)
	place := []*api.Allocation{a, b}
	f.Reserve(place)
	f.Reserve(place)
	if got := f.View().Used(node).CPU; got != 2000 {
		t.Errorf("%d MHz are used with two reservations, want 2000", got)
	}
	f.Change((*api.Allocation)(nil), a)
	f.Release(place)
	if got := f.View().Used(node).CPU; got != 1000 {
		t.Errorf("%d MHz are used after one was committed and the other released, want 1000", got)
	}
}

func TestCheck(t *testing.T) {
	f := testFleet(3)
	f.nodes[1].Reserved = &api.NodeReserved{Networks: api.NodeReservedNetworks{ReservedHostPorts: "22,8000-8002"}}
	f.nodes[2].Status = api.NodeStatusDown
	f.allocs = []*api.Allocation{allocOn("old", "node-00000", 80), allocOn("more", "node-00000")}
	stored := map[string]*api.Allocation{"old": f.allocs[0]}
	view := NewFleet(f).View()
	update := f.allocs[0].Copy()
	update.CreateIndex = 7
	place := []*api.Allocation{
		update,
		allocOn("1", "node-00000"),
		allocOn("2", "node-00000", 80),
		allocOn("3", "node-00000", 90),
		allocOn("4", "node-00000"),
		allocOn("5", "node-00001", 90),
		allocOn("6", "node-00001", 90),
		allocOn("7", "node-00001", 8001),
		allocOn("8", "node-00002"),
		allocOn("9", "node-99999"),
	}
	got := Check(view, place, func(id string) *api.Allocation { return stored[id] })
	want := []Refusal{
		{"2", "node-00000", "port 80 is taken"},
		{"4", "node-00000", "not enough cpu"},
		{"6", "node-00001", "port 90 is taken"},
		{"7", "node-00001", "port 8001 is taken"},
		{"8", "node-00002", "the node takes no new allocations (status down, eligible)"},
		{"9", "node-99999", "the node is not registered"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("refused (-want +got):\n%s", diff)
	}
}

func TestClassesOfNodesThatAreGoneAreForgotten(t *testing.T) {
	f := NewFleet(&fixture{})
	n := testNode(0)
	f.Change((*api.Node)(nil), n)
	old := f.View()
	for i := range 10000 {
		next := n.Copy()
		next.Meta = map[string]string{"generation": fmt.Sprint(i)}
		next.ComputedClass = api.ComputeClass(next)
		f.Change(n, next)
		n = next
	}
	if len(f.classes) > 1000 {
		t.Errorf("one node that changed often left %d classes behind", len(f.classes))
	}
	for _, v := range []*View{old, f.View()} {
		p, i := v.at(n.ID)
		if got, want := v.classes[p.class[i]].id, p.nodes[i].ComputedClass; got != want {
			t.Errorf("a view takes a node of class %s for one of class %s", want, got)
		}
	}
}
