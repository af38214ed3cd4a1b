// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func evalUnblockCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "unblock EVAL",
		Short: "Have a blocked evaluation tried now, whatever it waits for",
		Long: `A blocked evaluation waits for a change that could help it, and is woken by it.
This has it tried at once. If its instances still have no place, a new blocked
evaluation waits on.`,
		Example:           `reeve eval unblock 5c1f`,
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
			if _, err := cl.Evaluations().Unblock(cmd.Context(), id); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Evaluation %s is tried again; \"reeve eval status %s\" shows what came of it.\n", api.ShortID(id), api.ShortID(id))
			return nil
		},
	}
}
