// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobCallbacksCommand(c *cli) *command {
	return &command{
		use:   "callbacks JOB",
		short: "List the completion callbacks of a job, newest first",
		example: `reeve job callbacks nightly/dispatch-1750000000-ab12cd34
reeve job callbacks -json import`,
		format: true,
		run: func(r *call) error {
			id := r.args[0]
			list, _, err := r.cl.Callbacks().OfJob(r.ctx, id, nil)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) {
				if len(list) == 0 {
					p.Line("No callbacks of job %q: it has no callback block, or has not ended.", id)
					return
				}
				view.Callbacks(p, list)
			})
		},
	}
}
