// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func evalStatusCommand(c *cli) *cobra.Command {
	var (
		f    format
		wide bool
	)
	cmd := &cobra.Command{
		Use:               "status EVAL",
		Short:             "Show an evaluation: why it exists, what it placed, what it could not place",
		Args:              exactly(1, "EVAL"),
		ValidArgsFunction: c.completeIDs(api.SearchEvaluations),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.resolveEvaluation(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			e, _, err := cl.Evaluations().Get(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			if !f.forPeople() {
				return c.show(f, e, nil)
			}
			placed, _, err := cl.Evaluations().Allocations(cmd.Context(), id, withResources())
			if err != nil {
				return err
			}
			byName(placed)
			return c.show(f, e, func(p *page) { p.evaluation(e, placed, wide) })
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids")
	return cmd
}
