// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// nodes writes a list of nodes.
func (p *page) nodes(list []*api.NodeListStub, wide bool) { p.nodesWithDrains(list, nil, wide) }

// nodesWithDrains writes a list of nodes, and how many allocations are left on
// those that are drained, by node, where it is known.
func (p *page) nodesWithDrains(list []*api.NodeListStub, left map[string]int, wide bool) {
	p.massLoss(list)
	heading := []string{"ID", "Name", "Datacenter", "Pool", "Class", "Address", "Drivers", "Eligibility", "Status"}
	if wide {
		heading = append(heading, "Version")
	}
	var rows [][]string
	for _, n := range list {
		id := api.ShortID(n.ID)
		if wide {
			id = n.ID
		}
		row := []string{id, n.Name, n.Datacenter, dash(n.NodePool), dash(n.NodeClass), dash(n.Address),
			dash(strings.Join(healthyDrivers(n.Drivers), ",")), p.style.status(eligibility(n.SchedulingEligibility, n.Drain)),
			p.style.status(nodeStatus(n.Status, n.SilentSince))}
		if left, known := left[n.ID]; known {
			row[len(row)-2] = fmt.Sprintf("draining, %d left", left)
		}
		if wide {
			row = append(row, dash(n.Version))
		}
		rows = append(rows, row)
	}
	p.tableLess(heading, rows, "Class", "Pool", "Datacenter", "Address")
}

// massLoss tells that nodes are silent and why they are not given up.
func (p *page) massLoss(list []*api.NodeListStub) {
	var first *api.NodeListStub
	silent := 0
	for _, n := range list {
		if n.SilentSince != 0 {
			silent++
			if first == nil || n.SilentSince < first.SilentSince {
				first = n
			}
		}
	}
	if first == nil {
		return
	}
	p.line("%s", p.style.red(fmt.Sprintf("%s silent, the first for %s, and not given up yet: %s.",
		count(silent, "node is", "nodes are"), shortDuration(p.now.Sub(time.Unix(first.SilentSince, 0))), first.StatusDescription)))
	p.line("")
}

func nodeStatus(status string, silentSince int64) string {
	if silentSince != 0 {
		return "silent"
	}
	return status
}

func eligibility(e string, drain bool) string {
	if drain {
		return "draining"
	}
	return e
}

func healthyDrivers(drivers map[string]*api.DriverStatus) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		if d := drivers[name]; d != nil && d.Detected && d.Healthy {
			names = append(names, name)
		}
	}
	return names
}

// node writes one node: what it is and has, its drivers, and what runs on it.
func (p *page) node(n *api.Node, drain *api.NodeDrainStatus, allocs []*api.Allocation, wide bool) {
	id := api.ShortID(n.ID)
	if wide {
		id = n.ID
	}
	status := p.style.status(nodeStatus(n.Status, n.SilentSince))
	if n.SilentSince != 0 {
		status += " (not heard of for " + shortDuration(p.now.Sub(time.Unix(n.SilentSince, 0))) + ", not given up yet)"
	} else if n.StatusUpdatedAt > 0 {
		status += " (since " + age(p.now, time.Unix(n.StatusUpdatedAt, 0)) + ")"
	}
	p.fields(
		field{"ID", id},
		field{"Name", n.Name},
		field{"Datacenter", n.Datacenter},
		field{"Pool", n.NodePool},
		field{"Class", n.NodeClass},
		field{"Address", n.HTTPAddr},
		field{"Version", n.Attributes[api.NodeAttrVersion]},
		field{"Status", status},
		field{"Reason", n.StatusDescription},
		field{"Eligibility", p.style.status(eligibility(n.SchedulingEligibility, n.DrainStrategy != nil))},
	)
	if drain != nil && drain.DrainStrategy != nil {
		p.drain(drain, wide)
	} else {
		p.lastDrain(n.LastDrain)
	}
	p.nodeRoom(n, allocs)
	p.drivers(n.Drivers)
	p.section("Allocations")
	if len(allocs) == 0 {
		p.line("None")
	} else {
		stubs := make([]*api.AllocationListStub, 0, len(allocs))
		for _, a := range allocs {
			stub := a.Stub()
			stub.AllocatedResources = a.AllocatedResources
			stubs = append(stubs, stub)
		}
		p.allocations(stubs, wide)
	}
	p.nodeEvents(n.Events)
	if wide {
		p.section("Attributes")
		p.pairs(n.Attributes)
		if len(n.Meta) > 0 {
			p.section("Meta")
			p.pairs(n.Meta)
		}
	}
}

func (p *page) pairs(m map[string]string) {
	fields := make([]field, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fields = append(fields, field{k, m[k]})
	}
	p.fields(fields...)
}

// nodeRoom writes what a node has, and how much of it is taken.
func (p *page) nodeRoom(n *api.Node, allocs []*api.Allocation) {
	if n.Resources == nil {
		return
	}
	var cpu, memory, disk int64
	for _, a := range allocs {
		if !a.HoldsResources() || a.AllocatedResources == nil {
			continue
		}
		disk += a.AllocatedResources.Shared.DiskMB
		for _, t := range a.AllocatedResources.Tasks {
			cpu += t.CPU.CPUShares
			memory += t.Memory.MemoryMB
		}
	}
	var reserved api.NodeReserved
	if n.Reserved != nil {
		reserved = *n.Reserved
	}
	p.section("Room")
	rows := [][]string{
		{"CPU", fmt.Sprintf("%d MHz", cpu), fmt.Sprintf("%d MHz", n.Resources.CPU.CPUShares-int64(reserved.CPU.CPUShares))},
		{"Memory", megabytes(memory), megabytes(n.Resources.Memory.MemoryMB - int64(reserved.Memory.MemoryMB))},
		{"Disk", megabytes(disk), megabytes(n.Resources.Disk.DiskMB - int64(reserved.Disk.DiskMB))},
	}
	if cores := coresRow(n, allocs); cores != nil {
		rows = slices.Insert(rows, 1, cores)
	}
	p.table([]string{"What", "Taken", "Of"}, rows)
	p.nodeDevices(n, allocs)
	p.hostNetworks(n)
}

func (p *page) drivers(drivers map[string]*api.DriverStatus) {
	if len(drivers) == 0 {
		return
	}
	p.section("Drivers")
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		d := drivers[name]
		state := "healthy"
		switch {
		case !d.Detected:
			state = "not here"
		case !d.Healthy:
			state = "unhealthy"
		}
		rows = append(rows, []string{name, p.style.status(state), d.HealthDescription})
	}
	p.table([]string{"Driver", "State", "Description"}, rows)
}

func (p *page) nodeEvents(events []*api.NodeEvent) {
	if len(events) == 0 {
		return
	}
	p.section("Events")
	var rows [][]string
	for _, e := range events {
		rows = append(rows, []string{e.Timestamp.In(p.now.Location()).Format(time.RFC3339), e.Subsystem, e.Message})
	}
	p.table([]string{"Time", "Of", "What happened"}, rows)
}
