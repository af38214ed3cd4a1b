// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
)

// nodes writes a list of nodes.
func (p *page) nodes(list []*api.NodeListStub, wide bool) {
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
			p.style.status(n.Status)}
		if wide {
			row = append(row, dash(n.Version))
		}
		rows = append(rows, row)
	}
	p.table(heading, rows)
}

func eligibility(e string, drain bool) string {
	if drain {
		return "draining"
	}
	return e
}

func healthyDrivers(drivers map[string]*api.DriverStatus) []string {
	var names []string
	for _, name := range sortedKeys(drivers) {
		if d := drivers[name]; d != nil && d.Detected && d.Healthy {
			names = append(names, name)
		}
	}
	return names
}

// node writes one node: what it is and has, its drivers, and what runs on it.
func (p *page) node(n *api.Node, allocs []*api.Allocation, wide bool) {
	id := api.ShortID(n.ID)
	if wide {
		id = n.ID
	}
	status := p.style.status(n.Status)
	if n.StatusUpdatedAt > 0 {
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
	for _, k := range sortedKeys(m) {
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
	for _, name := range sortedKeys(drivers) {
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
