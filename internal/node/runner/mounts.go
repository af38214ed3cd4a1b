// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package runner

import (
	"context"
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/driver"
)

// mounts returns the mounts of a task's volumes. The servers chose the volumes; the node knows
// where they are.
func (h *Host) mounts(ctx context.Context, a *api.Allocation, g *api.Group, s *api.Task) ([]driver.Mount, error) {
	var all []driver.Mount
	for _, m := range s.VolumeMounts {
		request := g.Volumes[m.Volume]
		if request == nil {
			return nil, fmt.Errorf("volume_mount %q: the group has no such volume", m.Volume)
		}
		used := volumeOf(a, m.Volume)
		if used == nil {
			return nil, fmt.Errorf("volume_mount %q: the allocation was placed without the volume", m.Volume)
		}
		path, readOnly, err := h.volumePath(ctx, used)
		if err != nil {
			return nil, err
		}
		all = append(all, driver.Mount{
			Source: path, Target: m.Destination, ReadOnly: readOnly || request.ReadOnly || m.ReadOnly, Propagation: m.PropagationMode,
			Label: m.SELinuxLabel, WithoutLink: true,
		})
	}
	return all, nil
}

func volumeOf(a *api.Allocation, request string) *api.AllocatedVolume {
	if a.AllocatedResources == nil {
		return nil
	}
	for i := range a.AllocatedResources.Shared.Volumes {
		if v := &a.AllocatedResources.Shared.Volumes[i]; v.Request == request {
			return v
		}
	}
	return nil
}

// volumePath returns the directory of a volume of this node.
func (h *Host) volumePath(ctx context.Context, v *api.AllocatedVolume) (path string, readOnly bool, err error) {
	if v.ID != "" {
		if h.Volume == nil {
			return "", false, fmt.Errorf("host volume %q (%s) is not on this node", v.Name, api.ShortID(v.ID))
		}
		path, err = h.Volume(ctx, v.ID)
		return path, false, err
	}
	info := h.Node().HostVolumes[v.Name]
	if info == nil {
		return "", false, fmt.Errorf("host volume %q is not in the configuration of this node any longer", v.Name)
	}
	return info.Path, info.ReadOnly, nil
}
