// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func nodeExplainCommand(c *cli) *command {
	return &command{
		use:   "explain NODE JOB",
		short: "Explain whether a node could run another instance of a job",
		long: `Evaluate the node for each group of the job: report whether it could run another
instance now, and list all obstacles.

NODE is a prefix of the node's id, or its name.`,
		example: `reeve node explain worker-3 web`,
		format:  true,
		run: func(r *call) error {
			node := r.args[0]
			job := r.args[1]
			e, _, err := r.cl.Nodes().Explain(r.ctx, node, job, nil)
			if err != nil {
				return err
			}
			return r.show(e, func(p *term.Page) {
				for _, n := range e {
					view.NodeExplanation(p, n)
				}
			})
		},
	}
}
