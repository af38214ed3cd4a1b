// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"maps"
	"slices"

	"github.com/reeve-run/reeve/api"
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
