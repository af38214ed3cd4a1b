// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func deploymentCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "deployment",
		Short: "Look at deployments: how far a job's new version is",
		Long: `A deployment is the record of rolling a job to one version: how many instances
are placed and healthy, and how it ended.`,
	}, deploymentListCommand, deploymentStatusCommand, deploymentFailCommand,
		deploymentPauseCommand, deploymentResumeCommand)
}
