// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func nodePoolCommand(c *cli) *command {
	return &command{
		use:   "pool",
		short: "Look at node pools, make, change and delete them",
		long: `A node pool is a set of nodes that jobs name with node_pool. Every node is in
one: the one that its agent names, or "default". Every node is in "all" too. A
pool may have an algorithm of its own.`,
		verbs: []constructor{nodePoolListCommand, nodePoolInfoCommand, nodePoolNodesCommand, nodePoolJobsCommand, nodePoolInitCommand, nodePoolApplyCommand, nodePoolDeleteCommand},
	}
}
