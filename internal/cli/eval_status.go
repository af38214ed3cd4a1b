// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/pflag"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func evalStatusCommand(c *cli) *command {
	var wide bool
	return &command{
		use:    "status EVAL",
		short:  "Show an evaluation: its trigger, placements and failures",
		format: true,
		flags: func(f *pflag.FlagSet) {
			f.BoolVar(&wide, "verbose", false, "show full ids")
		},
		run: func(r *call) error {
			id := r.args[0]
			return c.showEvaluation(r.ctx, r.cl, id, r.format, wide)
		},
	}
}

// showEvaluation shows an evaluation. People also see its placements and, if it is
// blocked, possible solutions.
func (c *cli) showEvaluation(ctx context.Context, cl *client.Client, id string, f format, wide bool) error {
	e, _, err := cl.Evaluations().Get(ctx, id, nil)
	if err != nil {
		return err
	}
	if !f.forPeople() {
		return c.show(f, e, nil)
	}
	placed, _, err := cl.Evaluations().Allocations(ctx, id, withResources())
	if err != nil {
		return err
	}
	view.SortAllocations(placed)
	var waits *api.JobExplanation
	if e.Status == api.EvalStatusBlocked {
		if waits, _, err = cl.WithNamespace(e.Namespace).Jobs().Explain(ctx, e.JobID, nil); err != nil {
			return err
		}
	}
	return c.show(f, e, func(p *term.Page) { view.Evaluation(p, e, placed, waits, wide) })
}
