// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func jobRestartsCommand(c *cli) *command {
	return &command{
		use:    "restarts JOB",
		short:  "List the rolling restarts of a job, newest first",
		format: true,
		run: func(r *call) error {
			id := r.args[0]
			list, _, err := r.cl.Restarts().OfJob(r.ctx, id, nil)
			if err != nil {
				return err
			}
			return r.show(list, func(p *term.Page) { view.Restarts(p, id, list) })
		},
	}
}
