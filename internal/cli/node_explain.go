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
		short: "Say whether a node could take another instance of a job, and what is in the way",
		long: `Says for each group of the job whether the node could take another instance of
it now, and everything that is in the way: not only what was met first.

NODE is the beginning of its id, or its name.`,
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
