// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func evalCommand(c *cli) *command {
	return &command{
		use:   "eval",
		short: "Inspect evaluations, and retry or delete them",
		long: `An evaluation is a request to compare a job's specification with its running
allocations, because something changed. It records the decisions and, for
instances that could not be placed, the reasons.`,
		verbs: []constructor{evalListCommand, evalStatusCommand, evalDeleteCommand, evalUnblockCommand},
	}
}
