// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// hostVolumes writes the volumes that a node offers to tasks.
func hostVolumes(p *term.Page, n *api.Node) {
	if len(n.HostVolumes) == 0 {
		return
	}
	p.Section("Host volumes")
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(n.HostVolumes)) {
		v := n.HostVolumes[name]
		access, kind := "read and write", "static"
		if v.ReadOnly {
			access = "read only"
		}
		if v.ID != "" {
			kind = "dynamic, " + api.ShortID(v.ID)
		}
		rows = append(rows, []string{name, kind, access, v.Path})
	}
	p.Table([]string{"Name", "Kind", "Access", "Path"}, rows)
}

// HostVolumes writes a list of volumes.
func HostVolumes(p *term.Page, list []*api.HostVolumeStub) {
	var rows [][]string
	for _, v := range list {
		rows = append(rows, []string{api.ShortID(v.ID), v.Name, v.Namespace, orWord(v.PluginID, "registered"), api.ShortID(v.NodeID), v.NodePool, capacity(v.CapacityBytes), p.Style.Status(v.State)})
	}
	p.Table([]string{"ID", "Name", "Namespace", "Plugin", "Node", "Pool", "Capacity", "State"}, rows)
}

// HostVolume writes one volume with its allocations.
func HostVolume(p *term.Page, v *api.HostVolume) {
	p.Fields(
		term.Field{"ID", v.ID},
		term.Field{"Name", v.Name},
		term.Field{"Namespace", v.Namespace},
		term.Field{"Plugin", orWord(v.PluginID, "registered")},
		term.Field{"Node", api.ShortID(v.NodeID)},
		term.Field{"Pool", v.NodePool},
		term.Field{"Path", v.HostPath},
		term.Field{"Capacity", capacity(v.CapacityBytes)},
		term.Field{"State", p.Style.Status(v.State)},
		term.Field{"Reason", v.Message},
	)
	p.Section("Capabilities")
	var rows [][]string
	for _, c := range v.RequestedCapabilities {
		rows = append(rows, []string{c.AccessMode, c.AttachmentMode})
	}
	p.Table([]string{"Access mode", "Attachment mode"}, rows)
	p.Section("Allocations")
	if len(v.Allocations) == 0 {
		p.Line("None")
		return
	}
	Allocations(p, v.Allocations, false)
}

// VolumeClaims writes a list of claims.
func VolumeClaims(p *term.Page, list []*api.VolumeClaim) {
	var rows [][]string
	for _, c := range list {
		rows = append(rows, []string{c.ID, c.Namespace, api.AllocName(c.JobID, c.TaskGroupName, c.Index), c.VolumeName, api.ShortID(c.VolumeID), api.ShortID(c.AllocID)})
	}
	p.Table([]string{"ID", "Namespace", "Instance", "Volume", "Volume ID", "Allocation"}, rows)
}

func capacity(bytes int64) string {
	if bytes == 0 {
		return "-"
	}
	return human.Bytes(bytes)
}
