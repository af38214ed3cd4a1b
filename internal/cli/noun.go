// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/internal/cli/human"
)

// noun is a command that only holds others: alone it prints its help, and
// anything else after it is a mistake.
func noun(c *cli, cmd *cobra.Command, verbs ...command) *cobra.Command {
	add(cmd, "", c, verbs...)
	cmd.Args = cobra.ArbitraryArgs
	cmd.RunE = func(cmd *cobra.Command, args []string) error {
		if len(args) == 0 {
			return cmd.Help()
		}
		message := "there is no command \"" + cmd.CommandPath() + " " + args[0] + "\""
		return usagef("%s%s", message, human.DidYouMean(nearCommands(cmd, args[0])...))
	}
	return cmd
}
