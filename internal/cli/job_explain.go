// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobExplainCommand(c *cli) *command {
	return &command{
		use:   "explain JOB",
		short: "Explain why instances of a job cannot be placed",
		long: `Evaluate every node for each group of the job. Count the nodes that could run
another instance now, list all obstacles on the other nodes, and name the nodes
that come closest.

The command changes nothing. It also works for jobs whose instances are placed.`,
		example: `reeve job explain web
reeve job explain -json web`,
		format: true,
		run: func(r *call) error {
			id := r.args[0]
			e, _, err := r.cl.Jobs().Explain(r.ctx, id, nil)
			if err != nil {
				return err
			}
			return r.show(e, func(p *term.Page) { view.JobExplanation(p, e) })
		},
	}
}
