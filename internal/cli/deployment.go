// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func deploymentCommand(c *cli) *command {
	return &command{
		use:   "deployment",
		short: "Inspect, pause, promote and end deployments",
		long: `A deployment records the rollout of one version of a job: the numbers of placed
and healthy instances, and the outcome. The plan "deploy" shows its steps:
"reeve plan show -watch JOB deploy".`,
		verbs: []constructor{deploymentListCommand, deploymentStatusCommand, deploymentFailCommand, deploymentPauseCommand, deploymentResumeCommand, deploymentPromoteCommand, deploymentSetHealthCommand, deploymentUnblockCommand},
	}
}
