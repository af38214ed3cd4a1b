// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func nodePoolCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "pool",
		Short: "Look at node pools, make, change and delete them",
		Long: `A node pool is a set of nodes that jobs name with node_pool. Every node is in
one: the one that its agent names, or "default". Every node is in "all" too. A
pool may have an algorithm of its own.`,
	}, nodePoolListCommand, nodePoolInfoCommand, nodePoolNodesCommand, nodePoolJobsCommand,
		nodePoolInitCommand, nodePoolApplyCommand, nodePoolDeleteCommand)
}
