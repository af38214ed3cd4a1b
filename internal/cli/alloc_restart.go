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
		short: "Restart tasks of an allocation in place",
		long: `Stop tasks of an allocation with their kill signal and start them again, on the
same node and in the same directory: TASK, or every running task. With
-all-tasks, also start tasks that have ended, prestart tasks first. The restart
does not count as a failure.`,
		example: "reeve alloc restart 3f2a\nreeve alloc restart 3f2a server",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&task, "task", "", "`NAME` of the task to restart")
			f.BoolVar(&all, "all-tasks", false, "also restart tasks that have ended")
		},
		check: func(r *call) error {
			task = cmp.Or(r.arg(1), task)
			if all && task != "" {
				return usagef("choose either -all-tasks or a task")
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
			fmt.Fprintf(c.Stdout, "%s restarts.\n", what)
			return nil
		},
	}
}
