// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func deploymentCommand(c *cli) *command {
	return &command{
		use:   "deployment",
		short: "Look at, hold, promote and end deployments of a job's version",
		long: `A deployment is the record of rolling a job to one version: how many instances
are placed and healthy, and how it ended. Its tree of work is the plan "deploy":
"reeve plan show -watch JOB deploy".`,
		verbs: []constructor{deploymentListCommand, deploymentStatusCommand, deploymentFailCommand, deploymentPauseCommand, deploymentResumeCommand, deploymentPromoteCommand, deploymentSetHealthCommand, deploymentUnblockCommand},
	}
}
