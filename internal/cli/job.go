// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func jobCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "job",
		Short: "Run, plan, look at, change and stop jobs",
		Long: `A job says what should run: groups of tasks, and the policies for placing,
updating and recovering them. Every accepted change makes a new version.`,
	}, jobRunCommand, jobPlanCommand, jobExplainCommand, jobValidateCommand, jobStatusCommand, jobInspectCommand,
		jobHistoryCommand, jobRevertCommand, jobScaleCommand, jobRestartCommand, jobRestartsCommand, jobCallbacksCommand, jobStopCommand, jobDispatchCommand, jobPeriodicCommand, jobInitCommand, jobFmtCommand)
}
