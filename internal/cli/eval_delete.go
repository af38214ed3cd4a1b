// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

func evalDeleteCommand(c *cli) *cobra.Command {
	var filter string
	cmd := &cobra.Command{
		Use:   "delete [EVAL]",
		Short: "Forget evaluations, by id or all that match a filter",
		Long: `Forgets evaluations. What a pending or blocked one was to bring about does not
happen: its job stays as it is until something else has it evaluated, at the
latest the servers' periodic comparison of what should run with what runs. One
that is being worked out at this moment is refused.`,
		Example: `reeve eval delete 5c1f
reeve eval delete -filter 'Status == "blocked" and JobID matches "^import-"'`,
		Args:              atMost(1, "EVAL"),
		ValidArgsFunction: c.completeIDs(api.SearchEvaluations),
		RunE: func(cmd *cobra.Command, args []string) error {
			if (len(args) == 0) == (filter == "") {
				return usagef("say which evaluation, or -filter")
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			req := &api.EvaluationDeleteRequest{Filter: filter}
			if len(args) > 0 {
				id, err := c.resolveEvaluation(cmd.Context(), cl, args[0])
				if err != nil {
					return err
				}
				req.EvalIDs = []string{id}
			}
			n, err := cl.Evaluations().Delete(cmd.Context(), req)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "%s forgotten.\n", human.Count(n, "evaluation is", "evaluations are"))
			return nil
		},
	}
	cmd.Flags().StringVar(&filter, "filter", "", "all that match `EXPRESSION`, as in 'Status == \"blocked\"'")
	return cmd
}
