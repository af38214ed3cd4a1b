// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/client"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func evalStatusCommand(c *cli) *cobra.Command {
	var (
		f    format
		wide bool
	)
	cmd := &cobra.Command{
		Use:               "status EVAL",
		Short:             "Show an evaluation: why it exists, what it placed, what it could not place",
		Args:              exactly(1, "EVAL"),
		ValidArgsFunction: c.completeIDs(api.SearchEvaluations),
		RunE: func(cmd *cobra.Command, args []string) error {
			cl, err := c.connect()
			if err != nil {
				return err
			}
			id, err := c.resolveEvaluation(cmd.Context(), cl, args[0])
			if err != nil {
				return err
			}
			return c.showEvaluation(cmd.Context(), cl, id, f, wide)
		},
	}
	f.addTo(cmd.Flags())
	cmd.Flags().BoolVar(&wide, "verbose", false, "show whole ids")
	return cmd
}

// showEvaluation shows an evaluation: for people with what it placed, and what
// would help it if it is blocked.
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
