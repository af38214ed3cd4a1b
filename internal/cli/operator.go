// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func operatorCommand(c *cli) *command {
	return &command{
		use:   "operator",
		short: "Look at the cluster as a whole, and change how it works",
		long:  "Commands for whoever runs the cluster.",
		verbs: []constructor{operatorSchedulerCommand, operatorOrphansCommand},
	}
}

func operatorSchedulerCommand(c *cli) *command {
	return &command{
		use:   "scheduler",
		short: "See and change how the cluster schedules",
		long: `The scheduler's configuration says how instances are placed, which jobs may
preempt others, and whether jobs are taken at all. It is kept by the servers and
holds at once. A node pool may have an algorithm of its own.`,
		verbs: []constructor{operatorSchedulerGetCommand, operatorSchedulerSetCommand},
	}
}
