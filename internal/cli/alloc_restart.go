// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"cmp"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
)

func allocRestartCommand(c *cli) *command {
	var (
		task string
		all  bool
	)
	return &command{
		use:   "restart ALLOC [TASK]",
		short: "Restart an allocation's tasks where they are",
		long: `Stops tasks of an allocation with their kill signal and starts them again on the
same node, in the same directory: the task that is named, else every task that
runs. With -all-tasks also those that have ended, prestart tasks first. It does
not count as a failure.`,
		example: "reeve alloc restart 3f2a\nreeve alloc restart 3f2a server",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&task, "task", "", "`NAME` of the task to restart")
			f.BoolVar(&all, "all-tasks", false, "also restart tasks that have ended")
		},
		check: func(r *call) error {
			task = cmp.Or(r.arg(1), task)
			if all && task != "" {
				return usagef("-all-tasks and a task exclude each other: choose one")
			}
			return nil
		},
		run: func(r *call) error {
			a := r.alloc
			if task != "" {
				if _, err := chooseTask(a, task); err != nil {
					return err
				}
			}
			err := r.cl.Allocations().Restart(r.ctx, a.ID, api.RestartAllocationRequest{TaskName: task, AllTasks: all})
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
}
