// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package metrics

import (
	"github.com/reeve-run/reeve/api"
)

// A Node holds the measurements of a node.
type Node struct {
	Node        *api.Node
	Allocations map[string]int // by status: pending, running, blocked, terminal
	Allocated   api.Usage      // of the allocations that have not ended
	Checks      map[string]int // by status of their last result
	Host        *api.HostStats
	Tasks       []Task
}

// node writes the measurements of a node.
func (e *emitter) node(n *Node) {
	labels := []string{
		n.Node.ID, Label(n.Node.Datacenter), Label(n.Node.NodeClass), Label(n.Node.Pool()), Label(n.Node.Status), Label(n.Node.SchedulingEligibility),
	}
	for _, status := range []string{"pending", "running", "blocked", "terminal"} {
		e.gauge("nomad.client.allocations."+status, float64(n.Allocations[status]), labels...)
	}
	for _, status := range []string{api.CheckStatusPending, api.CheckStatusSuccess, api.CheckStatusFailure} {
		e.gauge("reeve.node.checks", float64(n.Checks[status]), status)
	}
	var free api.Usage
	if has := n.Node.Resources; has != nil {
		free = api.Usage{
			CPU: has.CPU.CPUShares - n.Allocated.CPU, MemoryMB: has.Memory.MemoryMB - n.Allocated.MemoryMB, DiskMB: has.Disk.DiskMB - n.Allocated.DiskMB,
		}
	}
	e.gauge("nomad.client.allocated.cpu", float64(n.Allocated.CPU), labels...)
	e.gauge("nomad.client.allocated.memory", float64(n.Allocated.MemoryMB), labels...)
	e.gauge("nomad.client.allocated.disk", float64(n.Allocated.DiskMB), labels...)
	e.gauge("nomad.client.unallocated.cpu", float64(free.CPU), labels...)
	e.gauge("nomad.client.unallocated.memory", float64(free.MemoryMB), labels...)
	e.gauge("nomad.client.unallocated.disk", float64(free.DiskMB), labels...)
	e.tasks(n.Tasks)
	if n.Host != nil {
		e.host(n.Host, labels)
	}
}

// host writes the usage of the node's machine.
func (e *emitter) host(h *api.HostStats, labels []string) {
	e.gauge("nomad.client.uptime", float64(h.Uptime), labels...)
	if m := h.Memory; m != nil {
		e.gauge("nomad.client.host.memory.total", float64(m.Total), labels...)
		e.gauge("nomad.client.host.memory.available", float64(m.Available), labels...)
		e.gauge("nomad.client.host.memory.used", float64(m.Used), labels...)
	}
	for i, c := range h.CPU {
		if i == e.r.limits.Cores {
			break
		}
		of := append([]string{Label(c.CPU)}, labels...)
		e.gauge("nomad.client.host.cpu.total_percent", c.TotalPercent, of...)
		e.gauge("nomad.client.host.cpu.idle", c.Idle, of...)
	}
	for _, d := range h.DiskStats {
		of := append([]string{Label(d.Device)}, labels...)
		e.gauge("nomad.client.host.disk.size", float64(d.Size), of...)
		e.gauge("nomad.client.host.disk.available", float64(d.Available), of...)
		e.gauge("nomad.client.host.disk.used_percent", d.UsedPercent, of...)
	}
}
