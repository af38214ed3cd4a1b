// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func operatorCommand(c *cli) *command {
	return &command{
		use:   "operator",
		short: "Inspect and configure the cluster",
		long:  "Commands for operators of the cluster.",
		verbs: []constructor{operatorSchedulerCommand, operatorSnapshotCommand, operatorAuditCommand, operatorOrphansCommand, operatorDebugCommand},
	}
}

func operatorSchedulerCommand(c *cli) *command {
	return &command{
		use:   "scheduler",
		short: "Show and change the scheduler configuration",
		long: `The scheduler configuration controls placement, preemption and job registration.
The servers store it, and apply changes immediately. A node pool may have its
own algorithm.`,
		verbs: []constructor{operatorSchedulerGetCommand, operatorSchedulerSetCommand},
	}
}
