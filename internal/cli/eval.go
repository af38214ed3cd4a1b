// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

func evalCommand(c *cli) *command {
	return &command{
		use:   "eval",
		short: "Look at evaluations: what was decided, and what could not be placed",
		long: `An evaluation is a note that something changed for a job, so what should run is
compared with what runs once more. It remembers what was decided and, for what
could not be placed, why.`,
		verbs: []constructor{evalListCommand, evalStatusCommand, evalDeleteCommand, evalUnblockCommand},
	}
}
