// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/cobra"
)

// noun is a command that only holds others: alone it prints its help, and
// anything else after it is a mistake.
func noun(c *cli, cmd *cobra.Command, verbs ...command) *cobra.Command {
	add(cmd, "", c, verbs...)
	cmd.Args = cobra.ArbitraryArgs
	cmd.SuggestionsMinimumDistance = 2
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		message := "there is no command \"" + cmd.CommandPath() + " " + args[0] + "\""
		if near := cmd.SuggestionsFor(args[0]); len(near) > 0 {
			message += "; did you mean " + strings.Join(near, " or ") + "?"
		}
		return usagef("%s", message)
	}
	return cmd
}
