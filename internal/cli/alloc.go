// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func allocCommand(c *cli) *command {
	return &command{
		use:   "alloc",
		short: "Inspect, restart and stop allocations; read their logs and files",
		long: `An allocation is one attempt to run an instance of a group on a node. Commands
accept a unique prefix of its id.`,
		verbs: []constructor{allocStatusCommand, allocLogsCommand, allocExecCommand, allocFSCommand, allocRestartCommand, allocStopCommand, allocSignalCommand},
	}
}

// A target is an allocation and one of its tasks on a command line.
type target struct {
	job  string // choose an allocation of this job
	task string
}

func (t *target) addTo(f *pflag.FlagSet) {
	f.StringVar(&t.job, "job", "", "choose an allocation of `JOB`, preferably a running one")
	f.StringVar(&t.task, "task", "", "`NAME` of the task; required if the allocation has several")
}

// find returns the allocation of args[0], or one of the job of -job, and the other
// arguments. With takesTask, the first of those names the task unless -task does.
func (t *target) find(ctx context.Context, c *cli, cl *client.Client, args []string, takesTask bool) (*api.Allocation, []string, error) {
	if t.job != "" {
		task := t.task
		if takesTask && task == "" && len(args) > 0 {
			task = args[0]
		}
		a, err := c.anyAllocation(ctx, cl, t.job, task)
		return a, args, err
	}
	if len(args) == 0 {
		return nil, nil, usagef("missing argument ALLOC; or name a job with -job")
	}
	a, err := c.readAllocation(ctx, cl, args[0])
	return a, args[1:], err
}

// readAllocation returns an allocation by a prefix of its id.
func (c *cli) readAllocation(ctx context.Context, cl *client.Client, prefix string) (*api.Allocation, error) {
	id, err := c.resolveAllocation(ctx, cl, prefix)
	if err != nil {
		return nil, err
	}
	a, _, err := cl.Allocations().Get(ctx, id, nil)
	return a, err
}

// anyAllocation chooses an allocation of a job: with the task, if one is named; running,
// if one runs; the newest.
func (c *cli) anyAllocation(ctx context.Context, cl *client.Client, job, task string) (*api.Allocation, error) {
	id, cl, err := c.resolveJob(ctx, cl, job)
	if err != nil {
		return nil, err
	}
	list, _, err := cl.Jobs().Allocations(ctx, id, true, nil)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, api.Errorf(api.CodeNotFound, "job %q has no allocations yet", id)
	}
	best := slices.MaxFunc(list, func(a, b *api.AllocationListStub) int {
		if ha, hb := a.TaskStates[task] != nil, b.TaskStates[task] != nil; ha != hb {
			return compareBools(ha, hb)
		}
		if ra, rb := isRunning(a), isRunning(b); ra != rb {
			return compareBools(ra, rb)
		}
		return int(a.CreateIndex) - int(b.CreateIndex)
	})
	a, _, err := cl.Allocations().Get(ctx, best.ID, nil)
	return a, err
}

func isRunning(a *api.AllocationListStub) bool { return a.ClientStatus == api.AllocClientRunning }

func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// chooseTask returns the named task, or the only task, or the only main task.
func chooseTask(a *api.Allocation, named string) (string, error) {
	names := view.TaskOrder(a)
	if named != "" {
		if slices.Contains(names, named) {
			return named, nil
		}
		return "", api.Errorf(api.CodeNotFound, "allocation %s has no task %q; it has %s", a, named, strings.Join(names, ", "))
	}
	if len(names) == 1 {
		return names[0], nil
	}
	var main []string
	for _, name := range names {
		if view.TaskKind(a, name) == "" {
			main = append(main, name)
		}
	}
	if len(main) == 1 {
		return main[0], nil
	}
	return "", usagef("allocation %s has several tasks: name one of %s", a, strings.Join(names, ", "))
}
