// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"cmp"
	"context"
	"path/filepath"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/volume"
)

// openVolumes prepares the node's dynamic volumes.
func (n *Node) openVolumes() (*volume.Keeper, error) {
	c := n.config
	return volume.Open(volume.Config{
		Dir: cmp.Or(c.VolumesDir, filepath.Join(c.DataDir, "volumes")), Plugins: cmp.Or(c.VolumePlugins, filepath.Join(c.DataDir, "volume_plugins")),
		Private: filepath.Dir(c.DataDir), NodeID: n.identity.ID, Pool: c.Pool, Ledger: n.ledger, Logger: n.log,
		Report: func(ctx context.Context, reports []*api.HostVolumeReport) error {
			if n.rejectedSince.Load() != 0 {
				return errTwin
			}
			return c.Servers.ReportVolumes(ctx, n.identity.ID, reports)
		},
	})
}

// receiveVolumes takes the volumes of a message.
func (n *Node) receiveVolumes(m *api.NodeAllocations) {
	if m.HasVolumes {
		n.volumes.Receive(m.Volumes, m.ClusterID, m.Rewound)
	}
}
