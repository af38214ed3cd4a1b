// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func serviceInfoCommand(c *cli) *cobra.Command {
	var (
		f      format
		q      client.QueryOptions
		tags   []string
		choose string
		wide   bool
	)
	cmd := &cobra.Command{
		Use:   "info SERVICE",
		Short: "Show who offers a service now, and where",
		Args:  exactly(1, "SERVICE"),
		Example: `reeve service info web
reeve service info -tag blue -choose '1|client-17' web`,
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			q.Params = map[string][]string{}
			for _, tag := range tags {
				q.Params.Add("tag", tag)
			}
			if choose != "" {
				q.Params.Set("choose", choose)
			}
			list, _, err := cl.Services().Get(cmd.Context(), args[0], &q)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("Nobody offers service %q now.", args[0])
					return
				}
				view.Registrations(p, list, wide)
			})
		},
	}
	f.addTo(cmd.Flags())
	addListFlags(cmd, &q)
	cmd.Flags().StringArrayVar(&tags, "tag", nil, "only those with `TAG`; several times: with all of them")
	cmd.Flags().StringVar(&choose, "choose", "", "only some of them, as `'N|KEY'`: the same for a key as long as they are there")
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids")
	return cmd
}
