// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
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
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No orphans.")
					return
				}
				view.Orphans(p, list)
			})
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	return cmd
}
