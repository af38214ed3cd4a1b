// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func operatorCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "operator",
		Short: "Look at the cluster as a whole, and change how it works",
		Long:  "Commands for whoever runs the cluster.",
	}, operatorSchedulerCommand, operatorOrphansCommand)
}

func operatorSchedulerCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "scheduler",
		Short: "See and change how the cluster schedules",
		Long: `The scheduler's configuration says how instances are placed, which jobs may
preempt others, and whether jobs are taken at all. It is kept by the servers and
holds at once. A node pool may have an algorithm of its own.`,
	}, operatorSchedulerGetCommand, operatorSchedulerSetCommand)
}
