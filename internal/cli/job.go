// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func jobCommand(c *cli) *command {
	return &command{
		use:   "job",
		short: "Run, plan, inspect, change and stop jobs",
		long: `A job specifies groups of tasks, and the policies to place, update and recover
them. Every accepted change creates a new version.`,
		verbs: []constructor{jobRunCommand, jobPlanCommand, jobExplainCommand, jobValidateCommand, jobStatusCommand, jobInspectCommand, jobHistoryCommand, jobRevertCommand, jobScaleCommand, jobRestartCommand, jobRestartsCommand, jobCallbacksCommand, jobActionCommand, jobStopCommand, jobDispatchCommand, jobPeriodicCommand, jobInitCommand, jobFmtCommand},
	}
}
