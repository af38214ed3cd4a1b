// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"time"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

// A stackVerbSpec describes a command that applies a verb to a stack.
type stackVerbSpec struct {
	verb, short, long string
	forHelp           string // help of -for; "": the command has no such flag
	now               bool   // the command has -now
}

func stackVerbCommand(c *cli, s stackVerbSpec) *command {
	var req api.StackVerbRequest
	return &command{
		use:    s.verb + " STACK",
		short:  s.short,
		long:   s.long,
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.StringVar(&req.Reason, "reason", "", "why, kept in the audit record as `TEXT`")
			if s.forHelp != "" {
				f.DurationVar(&req.For, "for", 0, s.forHelp)
			}
			if s.now {
				f.BoolVar(&req.Now, "now", false, "remove it immediately, without its grace")
			}
		},
		check: func(*call) error {
			if req.For < 0 || req.For > 10*365*24*time.Hour {
				return usagef("-for %s: must be between 0s and 10 years", req.For)
			}
			return nil
		},
		run: func(r *call) error {
			req.By = c.operator()
			res, err := r.cl.Stacks().Do(r.ctx, r.args[0], s.verb, &req)
			if err != nil {
				return err
			}
			return r.show(res, func(p *term.Page) {
				p.Line("%s", view.StackLine(res.Stack))
				for _, w := range res.Warnings {
					p.Line("Warning: %s", w)
				}
				view.StackNext(p, res.Stack)
			})
		},
	}
}

func stackHoldCommand(c *cli) *command {
	return stackVerbCommand(c, stackVerbSpec{
		verb: "hold", short: "Keep a stack, regardless of its policy",
		forHelp: "hold it for `D`; 0 is without limit",
	})
}

func stackUnholdCommand(c *cli) *command {
	return stackVerbCommand(c, stackVerbSpec{verb: "unhold", short: "Let the policy decide about a held stack again"})
}

func stackExtendCommand(c *cli) *command {
	return stackVerbCommand(c, stackVerbSpec{
		verb: "extend", short: "Give a stack more time",
		long: `Moves the end of a stack's time to at least -for from now. It never shortens
the time.`,
		forHelp: "extend it by `D`; 0 is its extend_ttl",
	})
}

func stackExpireCommand(c *cli) *command {
	return stackVerbCommand(c, stackVerbSpec{
		verb: "expire", short: "End the time of a stack now",
		long: `The next sweep makes the stack garbage, unless something uses it or its policy
keeps it.`,
	})
}

func stackRescueCommand(c *cli) *command {
	return stackVerbCommand(c, stackVerbSpec{
		verb: "rescue", short: "Make a garbage stack ready again",
		forHelp: "keep it for `D` at least; 0 is its initial_ttl",
	})
}

func stackStopCommand(c *cli) *command {
	return stackVerbCommand(c, stackVerbSpec{
		verb: "stop", short: "Make a stack garbage, even if something uses it", now: true,
		long: `The stack runs without traffic until its grace ends, and can be rescued until
then.`,
	})
}
