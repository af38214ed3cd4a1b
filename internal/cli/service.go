// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import "github.com/spf13/cobra"

func serviceCommand(c *cli) *cobra.Command {
	cmd := noun(c, &cobra.Command{
		Use:   "service",
		Short: "Look at services, and at who offers them now",
		Long: `A service is a name that instances of jobs are found under. Only instances that
traffic may go to are listed: they run, their checks pass, and they do not
leave.`,
	}, serviceListCommand, serviceInfoCommand)
	cmd.Aliases = []string{"services"}
	return cmd
}
