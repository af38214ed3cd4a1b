// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func instanceCommand(c *cli) *cobra.Command {
	cmd := noun(c, &cobra.Command{
		Use:   "instance",
		Short: "Look at, kill, restart, replace and pause instances of a job",
		Long: `An instance is one of the places of a job's group, as in web-0: allocations hold
it one after the other. People who come from DC/OS may say "pod" as well.`,
	}, instanceListCommand, instanceShowCommand, instanceKillCommand, instanceRestartCommand, instanceReplaceCommand, instancePauseCommand, instanceResumeCommand)
	cmd.Aliases = []string{"instances", "pod", "pods"}
	return cmd
}
