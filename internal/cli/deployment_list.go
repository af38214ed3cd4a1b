// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"sort"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func deploymentListCommand(c *cli) *cobra.Command {
	var (
		f format
		q client.QueryOptions
	)
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List deployments, the newest first",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, err := listAll(cmd.Context(), q, cl.Deployments().List)
			if err != nil {
				return err
			}
			sort.SliceStable(list, func(i, j int) bool { return list[i].CreateIndex > list[j].CreateIndex })
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No deployments.")
					return
				}
				view.Deployments(p, list)
			})
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	return cmd
}
