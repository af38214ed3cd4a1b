// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func deploymentCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "deployment",
		Short: "Look at, hold, promote and end deployments of a job's version",
		Long: `A deployment is the record of rolling a job to one version: how many instances
are placed and healthy, and how it ended. Its tree of work is the plan "deploy":
"reeve plan show -watch JOB deploy".`,
	}, deploymentListCommand, deploymentStatusCommand, deploymentFailCommand,
		deploymentPauseCommand, deploymentResumeCommand, deploymentPromoteCommand,
		deploymentSetHealthCommand, deploymentUnblockCommand)
}
