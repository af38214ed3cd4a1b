// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodeExplainCommand(c *cli) *cobra.Command {
	var f format
	cmd := &cobra.Command{
		Use:   "explain NODE JOB",
		Short: "Say whether a node could take another instance of a job, and what is in the way",
		Long: `Says for each group of the job whether the node could take another instance of
it now, and everything that is in the way: not only what was met first.

NODE is the beginning of its id, or its name.`,
		Example:           `reeve node explain worker-3 web`,
		Args:              exactly(2, "NODE JOB"),
		ValidArgsFunction: c.completeIDs(api.SearchNodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			node, err := c.resolveNode(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			job, cl, err := c.resolveJob(cmd.Context(), cl, args[1])
			if err != nil {
				return err
			}
			e, _, err := cl.Nodes().Explain(cmd.Context(), node, job, nil)
			if err != nil {
				return err
			}
			return c.show(f, e, func(p *term.Page) {
				for _, n := range e {
					view.NodeExplanation(p, n)
				}
			})
		},
	}
	f.addTo(cmd.Flags())
	return cmd
}
