// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package demo

import (
	"context"

	"github.com/reeve-run/reeve/internal/sim"
)

// zones of the simulated nodes.
var zones = []string{"a", "b", "c"}

// Simulate keeps simulated nodes alive until ctx ends, spread over three zones. It calls ready when
// they are registered.
func Simulate(ctx context.Context, address, token string, nodes int, ready func()) error {
	var groups []sim.NodeGroup
	for i, zone := range zones {
		groups = append(groups, sim.NodeGroup{
			Count: (nodes + len(zones) - 1 - i) / len(zones), Name: "sim-" + zone, Datacenter: "dc1", Class: "simulated",
			CPU: 4000, Cores: 4, Memory: 8192, Disk: 100_000, Meta: map[string]string{"zone": zone},
		})
	}
	return sim.Live(ctx, address, token, groups, ready)
}
