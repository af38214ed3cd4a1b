// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func jobCommand(c *cli) *command {
	return &command{
		use:   "job",
		short: "Run, plan, look at, change and stop jobs",
		long: `A job says what should run: groups of tasks, and the policies for placing,
updating and recovering them. Every accepted change makes a new version.`,
		verbs: []constructor{jobRunCommand, jobPlanCommand, jobExplainCommand, jobValidateCommand, jobStatusCommand, jobInspectCommand, jobHistoryCommand, jobRevertCommand, jobScaleCommand, jobRestartCommand, jobRestartsCommand, jobCallbacksCommand, jobStopCommand, jobDispatchCommand, jobPeriodicCommand, jobInitCommand, jobFmtCommand},
	}
}
