// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func nodePoolCommand(c *cli) *command {
	return &command{
		use:   "pool",
		short: "List, create, change and delete node pools",
		long: `A node pool is a set of nodes. Jobs select a pool with node_pool. Every node
belongs to the pool that its agent configures, or to "default", and also to
"all". A pool may have its own scheduling algorithm.`,
		verbs: []constructor{nodePoolListCommand, nodePoolInfoCommand, nodePoolNodesCommand, nodePoolJobsCommand, nodePoolInitCommand, nodePoolApplyCommand, nodePoolDeleteCommand},
	}
}
