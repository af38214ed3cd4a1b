// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package node

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/node/device"
)

// readDevices reads which devices the node has, and logs new problems of their specifications.
func (n *Node) readDevices() []*api.NodeDeviceGroup {
	now := device.Read(n.config.Devices)
	before := n.devices.Swap(now)
	for _, p := range now.Problems {
		known := before != nil && slices.ContainsFunc(before.Problems, func(o device.Problem) bool {
			return o.File == p.File && o.Err.Error() == p.Err.Error()
		})
		if !known {
			n.log.Warn("cannot use a CDI specification: tasks get none of its devices", "file", p.File, "error", p.Err)
		}
	}
	return now.Groups
}

// deviceEdits returns what a task gets for the devices that it holds.
func (n *Node) deviceEdits(held []*api.AllocatedDevice) (device.Edits, error) {
	return n.devices.Load().Edits(held)
}
