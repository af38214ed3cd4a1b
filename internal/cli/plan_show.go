// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

const planShowExitCodes = `0    shown; with -watch: the plan is complete
1    it cannot be shown; with -watch: the plan cannot be completed as it stands,
     or its version failed and another one runs in its place
2    with -timeout: it was not complete in time
130  with -watch: ended by Ctrl-C; the plan goes on`

func planShowCommand(c *cli) *command {
	var (
		follow  bool
		timeout time.Duration
		wide    bool
	)
	return &command{
		use:     "show JOB [PLAN]",
		aliases: []string{"status"},
		short:   "Show a plan as a tree, once or for as long as it takes",
		long: `Shows a plan's phases and steps, what each waits for, what operators decided,
and what to type next. Without PLAN it shows all that has something to do. The
plan uninstall of a purged job can be shown for 10 minutes after the job is
gone, by the job's whole id.

With -watch it shows every change, until the plan is complete or in error. On a
terminal the tree is redrawn in place; elsewhere every change is a line. Without
PLAN it follows the first one that is under way.`,
		example: `reeve plan show web deploy
reeve plan show -watch web
reeve plan show -watch -timeout 10m web deploy`,
		exitCodes: planShowExitCodes,
		complete:  c.completePlans(nil),
		format:    true,
		removed:   true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&follow, "watch", false, "show every change, until the plan is complete")
			f.DurationVar(&timeout, "timeout", 0, "with -watch, which it implies: give up after `D`; the plan goes on")
			f.BoolVar(&wide, "verbose", false, "show every step, however many are in the same state")
		},
		check: func(r *call) error {
			switch {
			case follow && !r.format.forPeople():
				return usagef("-watch is for people: leave out -json and -t; programs make blocking queries of the HTTP API")
			case timeout < 0:
				return usagef("-timeout is a time above 0")
			}
			return nil
		},
		run: func(r *call) error {
			id, name := r.args[0], r.arg(1)
			if follow || timeout > 0 {
				return c.watchPlan(r.ctx, r.cl, id, name, timeout)
			}
			return c.showPlans(r.ctx, r.cl, id, name, r.format, wide)
		},
	}
}

// showPlans shows one plan, or all of a job that have something to do.
func (c *cli) showPlans(ctx context.Context, cl *client.Client, job, name string, f format, wide bool) error {
	if name != "" {
		pl, _, err := cl.Plans().Get(ctx, job, name, nil)
		if err != nil {
			return err
		}
		return c.show(f, pl, func(p *term.Page) { view.PlanTree(p, pl, wide) })
	}
	list, _, err := cl.Plans().OfJob(ctx, job, nil)
	if err != nil {
		return err
	}
	trees := []*api.Plan{}
	for _, pl := range list {
		if pl.Total == 0 && pl.Status == api.PlanComplete {
			continue
		}
		tree, _, err := cl.Plans().Get(ctx, job, pl.Name, nil)
		if api.CodeOf(err) == api.CodeNotFound {
			continue // it was over in between
		}
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	return c.show(f, trees, func(p *term.Page) {
		if len(trees) == 0 {
			p.Line("No plan of job %q has anything to do.", job)
		}
		for i, pl := range trees {
			if i > 0 {
				p.WriteByte('\n')
			}
			view.PlanTree(p, pl, wide)
		}
	})
}
