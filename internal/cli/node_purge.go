// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/human"
)

func nodePurgeCommand(c *cli) *cobra.Command {
	var yes bool
	cmd := &cobra.Command{
		Use:   "purge NODE",
		Short: "Forget a node; what it ran is lost and replaced",
		Long: `Forgets a node that will not come back, rather than wait until it is collected.
What it ran counts as lost and is replaced elsewhere. An agent that lives
registers again, and stops what it ran before. Drain a node that works instead.`,
		Example:           "reeve node purge 51c0",
		Args:              exactly(1, "NODE"),
		ValidArgsFunction: c.completeIDs(api.SearchNodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.nodeID(cmd.Context(), cl, args, false)
			if err != nil {
				return err
			}
			n, _, err := cl.Nodes().Get(cmd.Context(), id, nil)
			if err != nil {
				return err
			}
			if n.Status == api.NodeStatusReady && !yes {
				if err := c.confirm(fmt.Sprintf("Node %s (%s) is alive. Forget it all the same?", api.ShortID(id), n.Name)); err != nil {
					return err
				}
			}
			resp, err := cl.Nodes().Purge(cmd.Context(), id)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s (%s) is forgotten; %s.\n", api.ShortID(id), n.Name, evaluated(resp.EvalIDs))
			return nil
		},
	}
	cmd.Flags().BoolVarP(&yes, "yes", "y", false, "do not ask, even if the node is alive")
	return cmd
}

func evaluated(ids []string) string {
	if len(ids) == 0 {
		return "no job had anything on it"
	}
	return human.Count(len(ids), "job is evaluated", "jobs are evaluated")
}

func nodeEvaluateCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:               "evaluate NODE",
		Short:             "Have the jobs looked at that have something on a node",
		Long:              "Makes an evaluation for every job that has an allocation on the node.",
		Example:           "reeve node evaluate 51c0",
		Args:              exactly(1, "NODE"),
		ValidArgsFunction: c.completeIDs(api.SearchNodes),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.nodeID(cmd.Context(), cl, args, false)
			if err != nil {
				return err
			}
			resp, err := cl.Nodes().Evaluate(cmd.Context(), id)
			if err != nil {
				return err
			}
			fmt.Fprintf(c.Stdout, "Node %s: %s.\n", api.ShortID(id), evaluated(resp.EvalIDs))
			return nil
		},
	}
}
