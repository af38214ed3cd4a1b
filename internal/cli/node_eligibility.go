// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func nodeEligibilityCommand(c *cli) *cobra.Command {
	var enable, disable, self bool
	cmd := &cobra.Command{
		Use:               "eligibility [NODE]",
		Short:             "Say whether new allocations may be placed on a node",
		Long:              "Marks a node as eligible for new allocations, or not. What runs there goes on.",
		Example:           "reeve node eligibility -disable 51c0",
		Args:              atMost(1, "NODE"),
		ValidArgsFunction: c.completeIDs(api.SearchNodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			if enable == disable {
				return usagef("choose -enable or -disable")
			}
			if len(args) == 0 && !self {
				return usagef("say which node, or -self")
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.nodeID(cmd.Context(), cl, args, self)
			if err != nil {
				return err
			}
			to := api.NodeEligible
			if disable {
				to = api.NodeIneligible
			}
			if _, err := cl.Nodes().SetEligibility(cmd.Context(), id, to); err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s is %s.\n", api.ShortID(id), to)
			return nil
		},
	}
	cmd.Flags().BoolVar(&enable, "enable", false, "new allocations may be placed there")
	cmd.Flags().BoolVar(&disable, "disable", false, "no new allocations are placed there")
	cmd.Flags().BoolVar(&self, "self", false, "the node of the agent that answers")
	return cmd
}
