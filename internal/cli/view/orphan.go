// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package view

import (
	"fmt"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
)

// Orphans writes a list of orphans.
func Orphans(p *term.Page, list []*api.Orphan) {
	var rows [][]string
	for _, o := range list {
		a := o.Allocation
		next := "none: its domain is stale"
		if o.Fresh {
			next = "stop, unless its job adopts it"
		}
		rows = append(rows, []string{api.ShortID(a.ID), a.Name, a.NodeName, a.ClientStatus, fmt.Sprintf("%q", o.Domain), next})
	}
	p.Table([]string{"ID", "Name", "Node", "Status", "Domain", "Next action"}, rows)
}
