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
		next := "goes on: its domain is stale"
		if o.Fresh {
			next = "stops, unless its job takes it over"
		}
		rows = append(rows, []string{api.ShortID(a.ID), a.Name, a.NodeName, a.ClientStatus, fmt.Sprintf("%q", o.Domain), next})
	}
	p.Table([]string{"ID", "Name", "Node", "Status", "Domain", "What comes"}, rows)
}
