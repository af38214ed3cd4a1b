// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package api

import (
	"maps"
	"slices"
)

// PortMappings returns the ports that the allocation owns: its group's and its tasks'.
func (a *Allocation) PortMappings() []PortMapping {
	r := a.AllocatedResources
	if r == nil {
		return nil
	}
	all := r.Shared.Ports
	add := func(networks []*Network) {
		for _, n := range networks {
			for _, ports := range [...][]Port{n.ReservedPorts, n.DynamicPorts} {
				for _, p := range ports {
					if !slices.ContainsFunc(all, func(q PortMapping) bool { return q.Label == p.Label }) {
						all = append(slices.Clip(all), PortMapping{Label: p.Label, Value: p.Value, To: p.To, HostIP: n.IP})
					}
				}
			}
		}
	}
	add(r.Shared.Networks)
	for _, task := range slices.Sorted(maps.Keys(r.Tasks)) {
		if t := r.Tasks[task]; t != nil {
			add(t.Networks)
		}
	}
	return all
}
