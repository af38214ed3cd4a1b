// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package placement

import (
	"slices"

	"github.com/reeve-run/reeve/api"
)

// deviceName is a device group's name as jobs write it.
func deviceName(vendor, kind, name string) string { return vendor + "/" + kind + "/" + name }

// hasDevice reports whether the node has the device in good health.
func hasDevice(n *api.Node, d device) bool {
	if n.Resources == nil {
		return false
	}
	for _, g := range n.Resources.Devices {
		if g == nil || g.Vendor != d.vendor || g.Type != d.kind || g.Name != d.name {
			continue
		}
		if slices.ContainsFunc(g.Instances, func(i *api.NodeDevice) bool { return i != nil && i.ID == d.id && i.Healthy }) {
			return true
		}
	}
	return false
}
