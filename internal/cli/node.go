// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func nodeCommand(c *cli) *command {
	return &command{
		use:   "node",
		short: "Inspect and drain nodes, and set their eligibility",
		long:  "A node is a machine with an agent that runs allocations.",
		verbs: []constructor{nodeStatusCommand, nodeExplainCommand, nodeDrainCommand, nodeEligibilityCommand, nodeImagesCommand, nodeConfigCommand, nodeEvaluateCommand, nodePurgeCommand, nodePoolCommand, nodeDoctorCommand},
	}
}
