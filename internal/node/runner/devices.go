// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"slices"
	"strings"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// addDevices gives a task its devices. Variables of the job take precedence over those of devices.
func (h *Host) addDevices(dt *driver.Task, a *api.Allocation, s *api.Task) error {
	if h.Devices == nil || a.AllocatedResources == nil {
		return nil
	}
	held := a.AllocatedResources.Tasks[s.Name]
	if held == nil || len(held.Devices) == 0 {
		return nil
	}
	edits, err := h.Devices(held.Devices)
	if err != nil {
		return err
	}
	for _, kv := range edits.Env {
		name, _, _ := strings.Cut(kv, "=")
		if !slices.ContainsFunc(dt.Env, func(own string) bool { return strings.HasPrefix(own, name+"=") }) {
			dt.Env = append(dt.Env, kv)
		}
	}
	dt.Devices, dt.Mounts = edits.Nodes, append(dt.Mounts, edits.Mounts...)
	return nil
}
