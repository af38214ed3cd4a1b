// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobRestartsCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:               "restarts JOB",
		Short:             "List a job's rolling restarts, the newest first",
		Args:              exactly(1, "JOB"),
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
			list, _, err := cl.Restarts().OfJob(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, list, func(p *term.Page) { view.Restarts(p, id, list) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
