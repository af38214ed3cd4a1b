// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobCallbacksCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "callbacks JOB",
		Short: "List whom a job's end was told, the newest first",
		Args:  exactly(1, "JOB"),
		Example: `reeve job callbacks nightly/dispatch-1750000000-ab12cd34
reeve job callbacks -json import`,
		ValidArgsFunction: c.completeIDs(api.SearchJobs),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, cl, err := c.resolveJob(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			list, _, err := cl.Callbacks().OfJob(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("Nobody was told of the end of job %q: it has no callback block, or is not over.", id)
					return
				}
				view.Callbacks(p, list)
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
