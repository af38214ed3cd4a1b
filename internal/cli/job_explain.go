// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobExplainCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "explain JOB",
		Short: "Say why instances of a job are not placed, and what would help",
		Long: `Looks at every node there is, and says for each group of the job which could
take another instance now, and everything that is in the way on the others: not
only what was met first. The nodes that lack least are named.

It changes nothing, and answers for jobs that lack nothing, too.`,
		Example: `reeve job explain web
reeve job explain -json web`,
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
			e, _, err := cl.Jobs().Explain(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			return c.show(f, e, func(p *term.Page) { view.JobExplanation(p, e) })
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
