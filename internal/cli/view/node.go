// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Nodes writes a list of nodes.
func Nodes(p *term.Page, list []*api.NodeListStub, wide bool) { NodesWithDrains(p, list, nil, wide) }

// NodesWithDrains writes a list of nodes. left contains the numbers of remaining
// allocations of draining nodes, by node id.
func NodesWithDrains(p *term.Page, list []*api.NodeListStub, left map[string]int, wide bool) {
	massLoss(p, list)
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
		row := []string{id, n.Name, n.Datacenter, human.Dash(n.NodePool), human.Dash(n.NodeClass), human.Dash(n.Address),
			human.Dash(strings.Join(healthyDrivers(n.Drivers), ",")), p.Style.Status(eligibility(n.SchedulingEligibility, n.Drain)),
			p.Style.Status(nodeStatus(n.Status, n.SilentSince))}
		if left, known := left[n.ID]; known {
			row[len(row)-2] = fmt.Sprintf("draining, %d allocations left", left)
		}
		if wide {
			row = append(row, human.Dash(n.Version))
		}
		rows = append(rows, row)
	}
	p.TableLess(heading, rows, "Class", "Pool", "Datacenter", "Address")
}

// massLoss reports silent nodes that are not declared down, with the reason.
func massLoss(p *term.Page, list []*api.NodeListStub) {
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
	p.Line("%s", p.Style.Red(fmt.Sprintf("%s silent, the first for %s, but not declared down: %s.",
		human.Count(silent, "node is", "nodes are"), human.Duration(p.Now.Sub(time.Unix(first.SilentSince, 0))), first.StatusDescription)))
	p.Line("")
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

// Node writes one node: its fields, resources, drivers and allocations.
func Node(p *term.Page, n *api.Node, drain *api.NodeDrainStatus, allocs []*api.Allocation, wide bool) {
	id := api.ShortID(n.ID)
	if wide {
		id = n.ID
	}
	status := p.Style.Status(nodeStatus(n.Status, n.SilentSince))
	if n.SilentSince != 0 {
		status += " (silent for " + human.Duration(p.Now.Sub(time.Unix(n.SilentSince, 0))) + ", not declared down)"
	} else if n.StatusUpdatedAt > 0 {
		status += " (since " + human.Age(p.Now, time.Unix(n.StatusUpdatedAt, 0)) + ")"
	}
	p.Fields(
		term.Field{"ID", id},
		term.Field{"Name", n.Name},
		term.Field{"Datacenter", n.Datacenter},
		term.Field{"Pool", n.NodePool},
		term.Field{"Introduction", introduction(p, n.Introduction)},
		term.Field{"Class", n.NodeClass},
		term.Field{"Address", n.HTTPAddr},
		term.Field{"Version", n.Attributes[api.NodeAttrVersion]},
		term.Field{"Status", status},
		term.Field{"Reason", n.StatusDescription},
		term.Field{"Eligibility", p.Style.Status(eligibility(n.SchedulingEligibility, n.DrainStrategy != nil))},
	)
	if drain != nil && drain.DrainStrategy != nil {
		Drain(p, drain, wide)
	} else {
		LastDrain(p, n.LastDrain)
	}
	nodeRoom(p, n, allocs)
	drivers(p, n.Drivers)
	p.Section("Allocations")
	if len(allocs) == 0 {
		p.Line("None")
	} else {
		stubs := make([]*api.AllocationListStub, 0, len(allocs))
		for _, a := range allocs {
			stub := a.Stub()
			stub.AllocatedResources = a.AllocatedResources
			stubs = append(stubs, stub)
		}
		Allocations(p, stubs, wide)
	}
	nodeEvents(p, n.Events)
	if wide {
		p.Section("Attributes")
		pairs(p, n.Attributes)
		if len(n.Meta) > 0 {
			p.Section("Meta")
			pairs(p, n.Meta)
		}
	}
}

// introduction describes what the introduction token of a node decided; "": it had none.
func introduction(p *term.Page, i *api.NodeIntroduction) string {
	if i == nil {
		return ""
	}
	decided := "pool " + i.NodePool
	if i.NodeName != "" {
		decided += " and name " + i.NodeName
	}
	return fmt.Sprintf("token %s decided %s (%s)", api.ShortID(i.TokenID), decided, human.Age(p.Now, time.Unix(0, i.Time)))
}

func pairs(p *term.Page, m map[string]string) {
	fields := make([]term.Field, 0, len(m))
	for _, k := range slices.Sorted(maps.Keys(m)) {
		fields = append(fields, term.Field{k, m[k]})
	}
	p.Fields(fields...)
}

// nodeRoom writes the total and allocated resources of a node.
func nodeRoom(p *term.Page, n *api.Node, allocs []*api.Allocation) {
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
	p.Section("Room")
	rows := [][]string{
		{"CPU", fmt.Sprintf("%d MHz", cpu), fmt.Sprintf("%d MHz", n.Resources.CPU.CPUShares-int64(reserved.CPU.CPUShares))},
		{"Memory", human.Megabytes(memory), human.Megabytes(n.Resources.Memory.MemoryMB - int64(reserved.Memory.MemoryMB))},
		{"Disk", human.Megabytes(disk), human.Megabytes(n.Resources.Disk.DiskMB - int64(reserved.Disk.DiskMB))},
	}
	if cores := coresRow(n, allocs); cores != nil {
		rows = slices.Insert(rows, 1, cores)
	}
	p.Table([]string{"Resource", "Allocated", "Total"}, rows)
	nodeDevices(p, n, allocs)
	hostNetworks(p, n)
	hostVolumes(p, n)
}

func drivers(p *term.Page, drivers map[string]*api.DriverStatus) {
	if len(drivers) == 0 {
		return
	}
	p.Section("Drivers")
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(drivers)) {
		d := drivers[name]
		state := "healthy"
		switch {
		case !d.Detected:
			state = "not detected"
		case !d.Healthy:
			state = "unhealthy"
		}
		rows = append(rows, []string{name, p.Style.Status(state), d.HealthDescription})
	}
	p.Table([]string{"Driver", "State", "Description"}, rows)
}

func nodeEvents(p *term.Page, events []*api.NodeEvent) {
	if len(events) == 0 {
		return
	}
	p.Section("Events")
	var rows [][]string
	for _, e := range events {
		rows = append(rows, []string{e.Timestamp.In(p.Now.Location()).Format(time.RFC3339), e.Subsystem, e.Message})
	}
	p.Table([]string{"Time", "Subsystem", "Message"}, rows)
}
