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
1    failed; with -watch: the plan is in error, or its version failed and another
     version replaced it
2    with -timeout: the plan was not complete in time
130  with -watch: ended by Ctrl-C; the plan continues`

func planShowCommand(c *cli) *command {
	var (
		follow  bool
		timeout time.Duration
		wide    bool
	)
	return &command{
		use:     "show JOB [PLAN]",
		aliases: []string{"status"},
		short:   "Show plans as trees, and follow them",
		long: `Show the phases and steps of a plan, their reasons to wait, decisions of
operators, and next commands. Without PLAN, show all plans with work. The plan
uninstall of a purged job remains visible for 10 minutes after the job's
removal, by the job's full id.

With -watch, show every change until the plan is complete or in error. On a
terminal the command redraws the tree in place; otherwise it prints one line per
change. Without PLAN, follow the first active plan; for a stack, follow all
plans until the stack has its traffic.`,
		example: `reeve plan show web deploy
reeve plan show -watch web
reeve plan show -watch -timeout 10m web deploy
reeve plan show -watch inventory@1.1`,
		exitCodes: planShowExitCodes,
		complete:  c.completePlans(nil),
		format:    true,
		removed:   true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&follow, "watch", false, "show every change, until the plan is complete")
			f.DurationVar(&timeout, "timeout", 0, "give up after `D`; implies -watch; the plan continues")
			f.BoolVar(&wide, "verbose", false, "show every step, even if many have the same state")
		},
		check: func(r *call) error {
			switch {
			case follow && !r.format.forPeople():
				return usagef("-watch excludes -json and -t; programs can use blocking queries of the HTTP API")
			case timeout < 0:
				return usagef("-timeout %s is not above 0", timeout)
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

// showPlans shows one plan, or all plans of a job with work.
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
			continue // it completed since the list
		}
		if err != nil {
			return err
		}
		trees = append(trees, tree)
	}
	return c.show(f, trees, func(p *term.Page) {
		if len(trees) == 0 {
			p.Line("No plan of job %q has work.", job)
		}
		for i, pl := range trees {
			if i > 0 {
				p.WriteByte('\n')
			}
			view.PlanTree(p, pl, wide)
		}
	})
}
