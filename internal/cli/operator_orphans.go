// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
)

func operatorOrphansCommand(c *cli) *cobra.Command {
	var f format
	var q client.QueryOptions
	cmd := &cobra.Command{
		Use:   "orphans",
		Short: "List what runs although no registered job is known to want it",
		Long: `Orphans are allocations that run on a node and that the servers had never known:
they lost what they knew, or it was put back to an older state. Register the
jobs again, and those that run what the jobs say are taken over as they are.
What is left stops when its domain is marked as fresh.`,
		Args: exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, err := listAll(cmd.Context(), q, cl.Domains().Orphans)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *page) {
				if len(list) == 0 {
					p.line("No orphans.")
					return
				}
				p.orphans(list)
			})
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	return cmd
}

// orphans writes a list of orphans.
func (p *page) orphans(list []*api.Orphan) {
	var rows [][]string
	for _, o := range list {
		a := o.Allocation
		next := "goes on: its domain is stale"
		if o.Fresh {
			next = "stops, unless its job takes it over"
		}
		rows = append(rows, []string{api.ShortID(a.ID), a.Name, a.NodeName, a.ClientStatus, fmt.Sprintf("%q", o.Domain), next})
	}
	p.table([]string{"ID", "Name", "Node", "Status", "Domain", "What comes"}, rows)
}
