// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package httpapi

import (
	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/acl"
	"github.com/reeve-run/reeve/internal/state"
)

// getTopology answers with columns: ten thousand nodes as objects are ten times as large.
func getTopology(c *call, v *state.Snapshot) (*api.Topology, uint64, error) {
	index := v.TableIndex(c.route.Tables...)
	of, err := c.countOfJob(v)
	if err != nil {
		return nil, 0, err
	}
	return topologyOf(v, of), index, nil
}

// countOfJob counts the allocations of the job in the query that hold resources, by node.
// It returns nil if the query names no job.
func (c *call) countOfJob(v *state.Snapshot) (map[string]int, error) {
	job := c.query.Get("job")
	if job == "" {
		return nil, nil
	}
	namespaces := []string{c.namespace}
	if c.namespace == allNamespaces {
		namespaces = nil
		for n := range v.NamespacesPrefix("") {
			if c.may(acl.ReadJob, n.Name) {
				namespaces = append(namespaces, n.Name)
			}
		}
	} else if err := c.permit(acl.ReadJob, c.namespace); err != nil {
		return nil, err
	}
	of := map[string]int{}
	for _, namespace := range namespaces {
		for a := range v.AllocationsByJob(namespace, job) {
			if a.HoldsResources() {
				of[a.NodeID]++
			}
		}
	}
	return of, nil
}

// topologyOf returns the columns of all nodes; of, if not nil, is the column JobCount.
func topologyOf(v *state.Snapshot, of map[string]int) *api.Topology {
	n := v.NodeCount()
	numbers := func() []int64 { return make([]int64, 0, n) }
	t := &api.Topology{
		ID: make([]string, 0, n), Name: make([]string, 0, n), Draining: make([]bool, 0, n), Silent: make([]bool, 0, n),
		CPU: numbers(), CPUUsed: numbers(), MemoryMB: numbers(), MemoryUsed: numbers(), DiskMB: numbers(), DiskUsed: numbers(),
		Allocations: make([]int, 0, n),
	}
	var columns []func(*api.Node)
	text := func(column *api.TextColumn, value func(*api.Node) string) {
		column.Values, column.Codes = []string{}, make([]int, 0, n)
		codes := map[string]int{}
		columns = append(columns, func(n *api.Node) { column.Add(value(n), codes) })
	}
	zone := v.SchedulerConfig().ZoneAttribute
	text(&t.Datacenter, func(n *api.Node) string { return n.Datacenter })
	text(&t.Zone, func(n *api.Node) string { return n.Zone(zone) })
	text(&t.NodeClass, func(n *api.Node) string { return n.NodeClass })
	text(&t.NodePool, func(n *api.Node) string { return n.Pool() })
	text(&t.Status, func(n *api.Node) string { return n.Status })
	text(&t.Eligibility, func(n *api.Node) string { return n.SchedulingEligibility })
	uses := usesOf(v)
	for n := range v.Nodes() {
		t.ID, t.Name = append(t.ID, n.ID), append(t.Name, n.Name)
		for _, add := range columns {
			add(n)
		}
		t.Draining, t.Silent = append(t.Draining, n.DrainStrategy != nil), append(t.Silent, n.SilentSince != 0)
		capacity, used, count := n.Capacity(), api.Usage{}, 0
		if u := uses[n.ID]; u != nil {
			used, count = u.Usage, u.count
		}
		t.CPU, t.CPUUsed = append(t.CPU, capacity.CPU), append(t.CPUUsed, used.CPU)
		t.MemoryMB, t.MemoryUsed = append(t.MemoryMB, capacity.MemoryMB), append(t.MemoryUsed, used.MemoryMB)
		t.DiskMB, t.DiskUsed = append(t.DiskMB, capacity.DiskMB), append(t.DiskUsed, used.DiskMB)
		t.Allocations = append(t.Allocations, count)
		if of != nil {
			t.JobCount = append(t.JobCount, of[n.ID])
		}
	}
	return t
}

// A nodeUse is what the allocations of a node hold.
type nodeUse struct {
	api.Usage
	count int
}

// usesOf returns the use of each node with allocations. It reads the allocations in the
// order of their slots: in that of their nodes, most reads would miss the cache of the
// processor.
func usesOf(v *state.Snapshot) map[string]*nodeUse {
	uses := make(map[string]*nodeUse, v.NodeCount())
	for _, a := range v.SweepAllocations(0) {
		if a == nil || !a.HoldsResources() {
			continue
		}
		u := uses[a.NodeID]
		if u == nil {
			u = &nodeUse{}
			uses[a.NodeID] = u
		}
		u.Usage, u.count = u.Add(a.Usage()), u.count+1
	}
	return uses
}
