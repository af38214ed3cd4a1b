// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"slices"

	"github.com/reeve-run/reeve/api"
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobExplainCommand(c *cli) *command {
	return &command{
		use:   "explain JOB",
		short: "Explain why instances of a job cannot be placed",
		long: `Evaluate every node for each group of the job. Count the nodes that could run
another instance now, list all obstacles on the other nodes, and name the nodes
that come closest. Problems of instances that are placed are listed as well.

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
			var troubles []*api.Trouble
			if r.format.forPeople() {
				troubles, _, err = r.cl.Jobs().Troubles(r.ctx, id, nil)
				if err != nil && api.CodeOf(err) != api.CodeNotFound { // older servers have no troubles
					return err
				}
				// The explanation has the obstacles of all nodes.
				troubles = slices.DeleteFunc(troubles, func(t *api.Trouble) bool { return t.Kind == api.TroubleNoRoom })
			}
			return r.show(e, func(p *term.Page) {
				view.JobExplanation(p, e)
				view.Troubles(p, id, troubles)
			})
		},
	}
}
