// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"fmt"
	"iter"
	"slices"

	"github.com/reeve-run/reeve/api"
)

// A fixture is a Source for tests.
type fixture struct {
	nodes  []*api.Node
	allocs []*api.Allocation
}

func (f *fixture) Index() uint64                          { return 1 }
func (f *fixture) Nodes() iter.Seq[*api.Node]             { return slices.Values(f.nodes) }
func (f *fixture) Allocations() iter.Seq[*api.Allocation] { return slices.Values(f.allocs) }

// testNode is a node of 4,000 MHz, 8,192 MB memory and 100,000 MB disk.
func testNode(i int) *api.Node {
	n := &api.Node{
		ID: fmt.Sprintf("node-%05d", i), Name: fmt.Sprintf("n%d", i), Datacenter: fmt.Sprintf("dc%d", i%3+1),
		NodePool: "default", Status: api.NodeStatusReady, SchedulingEligibility: api.NodeEligible,
		Attributes: map[string]string{"kernel.name": "linux", "kernel.version": "6.1.0"},
		Meta:       map[string]string{"rack": fmt.Sprintf("r%d", i%10)},
		Drivers:    map[string]*api.DriverStatus{"mock": {Detected: true, Healthy: true}},
		Resources: &api.NodeResources{
			CPU: api.NodeCPU{CPUShares: 4000}, Memory: api.NodeMemory{MemoryMB: 8192}, Disk: api.NodeDisk{DiskMB: 100000},
			Networks: []*api.Network{{IP: fmt.Sprintf("10.0.%d.%d", i/250, i%250+1)}},
			Devices:  []*api.NodeDeviceGroup{{Vendor: "acme", Type: "gpu", Name: "one", Instances: []*api.NodeDevice{{ID: "g0", Healthy: true}}}},
		},
	}
	n.ComputedClass = api.ComputeClass(n)
	return n
}

func testFleet(nodes int) *fixture {
	f := &fixture{}
	for i := range nodes {
		f.nodes = append(f.nodes, testNode(i))
	}
	return f
}

// testJob is a service "web" of one group "web" of count instances of 100 MHz
// and 128 MB.
func testJob(count int) *api.Job {
	return &api.Job{
		ID: "web", Namespace: "default", Type: api.JobTypeService, Datacenters: []string{"*"}, NodePool: "default",
		Groups: []*api.Group{{
			Name: "web", Count: &count,
			Tasks: []*api.Task{{Name: "web", Driver: "mock", Resources: &api.Resources{CPU: new(100), MemoryMB: new(128)}}},
		}},
	}
}

func requests(job *api.Job, n int) []*Request {
	var rs []*Request
	g := job.Groups[0]
	for i := range n {
		rs = append(rs, &Request{Job: job, Group: g, Index: i, Name: api.AllocName(job.ID, g.Name, i)})
	}
	return rs
}

// pinned are requests for one instance of the job on each of the nodes.
func pinned(job *api.Job, nodes []*api.Node) []*Request {
	var rs []*Request
	g := job.Groups[0]
	for _, n := range nodes {
		rs = append(rs, &Request{Job: job, Group: g, Name: api.AllocName(job.ID, g.Name, 0), NodeID: n.ID})
	}
	return rs
}
