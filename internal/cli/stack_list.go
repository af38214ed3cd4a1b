// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"strings"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func stackListCommand(*cli) *command {
	var q client.QueryOptions
	var statuses string
	return &command{
		use:   "list [UNIT]",
		short: "List stacks with their share of the traffic and their callers",
		long: `Lists the stacks of a unit, or of all units, newest version first. Terminated
stacks are listed only with -status terminated.`,
		example: `reeve stack list
reeve stack list -status garbage,failed
reeve stack list inventory`,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&statuses, "status", "", "only stacks with one of these `STATUSES`, separated by commas")
		},
		run: func(r *call) error {
			var list []string
			if statuses != "" {
				list = strings.Split(statuses, ",")
			}
			stacks, _, err := r.cl.Stacks().List(r.ctx, r.arg(0), list, &q)
			if err != nil {
				return err
			}
			return r.show(stacks, func(p *term.Page) { view.Stacks(p, stacks) })
		},
	}
}

func stackStatusCommand(*cli) *command {
	return &command{
		use:    "status STACK",
		short:  "Show a stack: its state, its traffic, its callers and its history",
		format: true,
		run: func(r *call) error {
			stack, _, err := r.cl.Stacks().Get(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			records, _, err := r.cl.Stacks().Verdicts(r.ctx, stack.Name, nil)
			if err != nil {
				return err
			}
			return r.show(stack, func(p *term.Page) { view.Stack(p, stack, records) })
		},
	}
}

func stackWhyCommand(*cli) *command {
	return &command{
		use:   "why STACK",
		short: "Show why a stack is kept or not: the decisions about it, newest first",
		long: `Lists the audit records of a stack, newest first: every change of its state, and
every verdict of a sweep that differs from the one before.`,
		format: true,
		run: func(r *call) error {
			records, _, err := r.cl.Stacks().Verdicts(r.ctx, r.args[0], nil)
			if err != nil {
				return err
			}
			return r.show(records, func(p *term.Page) { view.AuditRecords(p, records) })
		},
	}
}

func stackGraphCommand(*cli) *command {
	return &command{
		use:    "graph",
		short:  "Show which stacks call which",
		format: true,
		run: func(r *call) error {
			graph, _, err := r.cl.Stacks().Graph(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(graph, func(p *term.Page) { view.StackGraph(p, graph) })
		},
	}
}

func stackSweepCommand(*cli) *command {
	var dry, all bool
	return &command{
		use:   "sweep",
		short: "Decide now which stacks are kept",
		long: `Sweeps all stacks now instead of at the end of the interval: policies extend the
time of stacks that are in use, and stacks whose time has ended become garbage.
Prints the decisions that change something.`,
		example: `reeve stack sweep -dry-run -all`,
		format:  true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&dry, "dry-run", false, "decide, and change nothing")
			f.BoolVar(&all, "all", false, "print all decisions")
		},
		run: func(r *call) error {
			res, err := r.cl.Stacks().Sweep(r.ctx, dry)
			if err != nil {
				return err
			}
			return r.show(res, func(p *term.Page) { view.Sweep(p, res, all) })
		},
	}
}

func stackPoliciesCommand(*cli) *command {
	return &command{
		use:     "policies",
		short:   "Explain the retention policies",
		offline: true,
		format:  true,
		run: func(r *call) error {
			return r.show(view.Policies, func(p *term.Page) { view.RetentionPolicies(p) })
		},
	}
}
