// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func serviceListCommand(c *cli) *cobra.Command {
	var f format
	var q client.QueryOptions
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List the services that are offered now, with their tags",
		Args:  exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			list, err := listAll(cmd.Context(), q, cl.Services().List)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) { view.Services(p, list, c.namespace() == "*") })
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	return cmd
}
