// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
)

func allocRestartCommand(c *cli) *cobra.Command {
	var (
		task string
		all  bool
	)
	cmd := &cobra.Command{
		Use:   "restart ALLOC [TASK]",
		Short: "Restart an allocation's tasks where they are",
		Long: `Stops tasks of an allocation with their kill signal and starts them again on the
same node, in the same directory: the task that is named, else every task that
runs. With -all-tasks also those that have ended, prestart tasks first. It does
not count as a failure.`,
		Example:           "reeve alloc restart 3f2a\nreeve alloc restart 3f2a server",
		Args:              atMost(2, "ALLOC and TASK"),
		ValidArgsFunction: c.completeIDs(api.SearchAllocations),
		RunE: func(cmd *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("say which allocation to restart")
			}
			if len(args) == 2 {
				task = args[1]
			}
			if all && task != "" {
				return usagef("-all-tasks and a task exclude each other: choose one")
			}
			cl, err := c.connect()
			if err != nil {
				return err
			}
			a, err := c.readAllocation(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			if task != "" {
				if _, err := chooseTask(a, task); err != nil {
					return err
				}
			}
			err = cl.Allocations().Restart(cmd.Context(), a.ID, api.RestartAllocationRequest{TaskName: task, AllTasks: all})
			if err != nil {
				return err
			}
			what := "Allocation " + a.String()
			if task != "" {
				what = fmt.Sprintf("Task %q of allocation %s", task, a)
			}
			fmt.Fprintf(c.Stdout, "%s is told to restart.\n", what)
			return nil
		},
	}
	cmd.Flags().StringVar(&task, "task", "", "`NAME` of the task to restart")
	cmd.Flags().BoolVar(&all, "all-tasks", false, "also restart tasks that have ended")
	return cmd
}
