// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package fingerprint

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
)

// Devices returns the declared devices with their health. A device whose id is a path is
// healthy while the path exists; other devices count as healthy.
func Devices(declared []*api.NodeDeviceGroup) []*api.NodeDeviceGroup {
	var groups []*api.NodeDeviceGroup
	for _, g := range declared {
		now := *g
		now.Instances = make([]*api.NodeDevice, len(g.Instances))
		for i, d := range g.Instances {
			seen := *d
			seen.Healthy, seen.HealthDescription = true, ""
			if strings.HasPrefix(d.ID, "/") {
				if _, err := os.Stat(d.ID); err != nil {
					seen.Healthy, seen.HealthDescription = false, fmt.Sprintf("%s does not exist", d.ID)
				}
			}
			now.Instances[i] = &seen
		}
		groups = append(groups, &now)
	}
	return groups
}

// Keep removes cores from those that can be dedicated to tasks.
func (m *Machine) Keep(cores []uint16) {
	if len(cores) == 0 {
		return
	}
	m.Resources.CPU.ReservableCPUCores = slices.DeleteFunc(m.Resources.CPU.ReservableCPUCores, func(id uint16) bool {
		return slices.Contains(cores, id)
	})
	m.setInt("cpu.reservablecores", int64(len(m.Resources.CPU.ReservableCPUCores)))
}
