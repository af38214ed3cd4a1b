// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func nodeCommand(c *cli) *command {
	return &command{
		use:   "node",
		short: "Look at nodes, empty them, and say whether they take new allocations",
		long:  "A node is a machine with an agent. It runs the allocations that are placed on\nit.",
		verbs: []constructor{nodeStatusCommand, nodeExplainCommand, nodeDrainCommand, nodeEligibilityCommand, nodeEvaluateCommand, nodePurgeCommand, nodePoolCommand},
	}
}
