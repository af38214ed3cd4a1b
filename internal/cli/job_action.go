// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
)

func jobActionCommand(c *cli) *command {
	var (
		job, group, task, alloc string
		interactive, tty        bool
	)
	return &command{
		use:   "action [ACTION]",
		short: "Run a command that a job defines in its task",
		long: `Run the command of an action block in its task, and exit with the command's exit
code. The server chooses a running allocation of the job, unless -alloc names
one. Without ACTION, list the actions of the job. On a terminal the command is
interactive and has a terminal, unless -i=false or -t=false is set.`,
		example: `reeve job action -job cache
reeve job action -job cache flush
reeve action -job cache -group web -task server -alloc 3f2a flush`,
		exitCodes: "the command's own; also 1 if the command could not run: stderr has the reason",
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&job, "job", "", "`JOB` of the action; optional with -alloc")
			f.StringVar(&group, "group", "", "`NAME` of the group; required if several groups have such an action")
			f.StringVar(&task, "task", "", "`NAME` of the task; required if several tasks have such an action")
			f.StringVar(&alloc, "alloc", "", "run it in the allocation `ID` (default: any that runs)")
			f.StringVar(&alloc, "allocation", "", "the same as -alloc")
			f.BoolVarP(&interactive, "interactive", "i", true, "pass stdin to the command")
			f.BoolVarP(&tty, "tty", "t", false, "allocate a terminal (default: if stdin and stdout are terminals)")
		},
		check: func(r *call) error {
			if job == "" && alloc == "" {
				return usagef("name the job with -job, or an allocation with -alloc")
			}
			if !r.flags.Changed("tty") {
				tty = term.IsTerminal(c.Stdin) && term.IsTerminal(c.Stdout)
			}
			return nil
		},
		run: func(r *call) error {
			id, cl, a, err := c.findActionJob(r.ctx, r.cl, job, alloc)
			if err != nil {
				return err
			}
			if r.arg(0) == "" {
				return c.listActions(r.ctx, cl, id)
			}
			action := client.Action{Name: r.arg(0), Group: group, Allocation: a}
			s := session{c: c, request: client.Exec{Task: task, TTY: tty}, exec: func(ctx context.Context, e client.Exec) (int, error) {
				return cl.Jobs().RunAction(ctx, id, action, e)
			}}
			return s.run(r.ctx, interactive)
		},
	}
}

// findActionJob returns the whole ids of a job and of an allocation, either of which may be empty, and
// the client of their namespace.
func (c *cli) findActionJob(ctx context.Context, cl *client.Client, job, alloc string) (string, *client.Client, string, error) {
	if alloc == "" {
		id, cl, err := c.resolveJob(ctx, cl, job)
		return id, cl, "", err
	}
	a, err := c.readAllocation(ctx, cl, alloc)
	if err != nil {
		return "", nil, "", err
	}
	if job != "" && !strings.HasPrefix(a.JobID, job) {
		return "", nil, "", usagef("allocation %s is of job %q, not %q: leave out -job or -alloc", a, a.JobID, job)
	}
	return a.JobID, cl.WithNamespace(a.Namespace), a.ID, nil
}

// listActions prints the actions of a job.
func (c *cli) listActions(ctx context.Context, cl *client.Client, job string) error {
	all, _, err := cl.Jobs().Actions(ctx, job, nil)
	if err != nil {
		return err
	}
	if len(all) == 0 {
		return api.Errorf(api.CodeNotFound, "job %q has no actions: add an action block to a task", job)
	}
	for _, a := range all {
		command := strings.Join(slices.Concat([]string{a.Command}, a.Args), " ")
		fmt.Fprintf(c.Stdout, "%s  %s/%s  %s\n", a.Name, a.TaskGroupName, a.TaskName, api.Printable(command, 100))
	}
	return nil
}
