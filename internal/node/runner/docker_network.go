// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/taskenv"
)

// dockerNetwork returns the network that the allocation's tasks of drivers docker and podman share, and
// the allocation with the ports that they publish; nil if they share none, or a daemon publishes
// their ports. All of them name the same labels for the same ports: a label of the group is one port.
func (h *Host) dockerNetwork(a *api.Allocation, g *api.Group) (*api.Network, *api.Allocation) {
	n := g.DockerNetwork()
	if n == nil {
		return nil, a
	}
	var ports []api.PortMapping
	for _, s := range g.Tasks {
		if d, ok := h.Drivers[s.Driver].(interface{ PublishesPorts() bool }); ok && d.PublishesPorts() {
			return nil, a
		}
		labels := g.PublishedPorts(s)
		for _, p := range taskenv.Ports(a, s) {
			known := slices.ContainsFunc(ports, func(q api.PortMapping) bool { return q.Value == p.Value && q.HostIP == p.HostIP })
			if slices.Contains(labels, p.Label) && !known {
				ports = append(ports, p)
			}
		}
	}
	c := *a
	c.AllocatedResources = &api.AllocatedResources{Shared: api.AllocatedShared{Ports: ports}}
	return n, &c
}
