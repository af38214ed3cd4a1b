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
		short: "Say why instances of a job are not placed, and what would help",
		long: `Looks at every node there is, and says for each group of the job which could
take another instance now, and everything that is in the way on the others: not
only what was met first. The nodes that lack least are named.

It changes nothing, and answers for jobs that lack nothing, too.`,
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
