// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// coresRow returns a row about the node's reserved cores, or nil without any.
func coresRow(n *api.Node, allocs []*api.Allocation) []string {
	var taken []uint16
	for _, a := range allocs {
		if !a.HoldsResources() || a.AllocatedResources == nil {
			continue
		}
		for _, t := range a.AllocatedResources.Tasks {
			taken = append(taken, t.CPU.ReservedCores...)
		}
	}
	if len(taken) == 0 {
		return nil
	}
	return []string{"Cores", fmt.Sprintf("%d (%s)", len(taken), api.FormatCores(taken)), fmt.Sprint(len(n.Resources.CPU.ReservableCPUCores))}
}

// nodeDevices writes the devices of a node, with the allocations that hold them.
func nodeDevices(p *term.Page, n *api.Node, allocs []*api.Allocation) {
	if n.Resources == nil || len(n.Resources.Devices) == 0 {
		return
	}
	holders := map[string]string{}
	for _, a := range allocs {
		if !a.HoldsResources() || a.AllocatedResources == nil {
			continue
		}
		for _, t := range a.AllocatedResources.Tasks {
			for _, d := range t.Devices {
				for _, id := range d.DeviceIDs {
					holders[d.Vendor+"/"+d.Type+"/"+d.Name+" "+id] = a.Name
				}
			}
		}
	}
	p.Section("Devices")
	var rows [][]string
	for _, g := range n.Resources.Devices {
		name := g.Vendor + "/" + g.Type + "/" + g.Name
		for _, d := range g.Instances {
			state := "healthy"
			if !d.Healthy {
				state = "unhealthy"
			}
			rows = append(rows, []string{name, d.ID, p.Style.Status(state), cmp.Or(holders[name+" "+d.ID], d.HealthDescription), attributesInWords(g.Attributes)})
		}
	}
	p.Table([]string{"Device", "ID", "State", "Held by", "Attributes"}, rows)
}

func attributesInWords(attributes map[string]*api.DeviceAttribute) string {
	var words []string
	for _, name := range slices.Sorted(maps.Keys(attributes)) {
		words = append(words, name+"="+attributes[name].Text())
	}
	return strings.Join(words, ", ")
}

// hostNetworks writes the named addresses of the node.
func hostNetworks(p *term.Page, n *api.Node) {
	if len(n.HostNetworks) == 0 {
		return
	}
	p.Section("Host networks")
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(n.HostNetworks)) {
		h := n.HostNetworks[name]
		rows = append(rows, []string{name, h.Address, h.Interface, h.ReservedPorts})
	}
	p.Table([]string{"Name", "Address", "Interface", "Reserved ports"}, rows)
}
