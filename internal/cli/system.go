// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"
)

func systemCommand(c *cli) *cobra.Command {
	return noun(c, &cobra.Command{
		Use:   "system",
		Short: "What concerns the cluster as a whole",
	}, systemGCCommand)
}

func systemGCCommand(c *cli) *cobra.Command {
	return &cobra.Command{
		Use:   "gc",
		Short: "Forget now all that has ended",
		Long: `Servers forget what ended some time ago by themselves: evaluations, allocations,
deployments, dead jobs and nodes that are gone. This does it at once, however
short ago something ended. What runs, or is still needed, stays.`,
		Example: `reeve system gc`,
		Args:    exactly(0, ""),
		RunE: func(cmd *cobra.Command, _ []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			if err := cl.System().CollectGarbage(cmd.Context()); err != nil {
				return err
			}
			fmt.Fprintln(c.Stdout, "What had ended is forgotten.")
			return nil
		},
	}
}
