// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func operatorSchedulerGetCommand(c *cli) *command {
	return &command{
		use:    "get-config",
		short:  "Show the scheduler configuration",
		format: true,
		run: func(r *call) error {
			res, _, err := r.cl.Operator().SchedulerConfig(r.ctx, nil)
			if err != nil {
				return err
			}
			return r.show(res, func(p *term.Page) { view.SchedulerConfig(p, res.SchedulerConfig) })
		},
	}
}
