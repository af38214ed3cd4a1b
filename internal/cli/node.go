// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func nodeCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "node",
		Short: "Look at nodes, empty them, and say whether they take new allocations",
		Long:  "A node is a machine with an agent. It runs the allocations that are placed on\nit.",
	}, nodeStatusCommand, nodeExplainCommand, nodeDrainCommand, nodeEligibilityCommand, nodeEvaluateCommand, nodePurgeCommand, nodePoolCommand)
}
