// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func evalCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "eval",
		Short: "Look at evaluations: what was decided, and what could not be placed",
		Long: `An evaluation is a note that something changed for a job, so what should run is
compared with what runs once more. It remembers what was decided and, for what
could not be placed, why.`,
	}, evalListCommand, evalStatusCommand, evalDeleteCommand, evalUnblockCommand)
}
