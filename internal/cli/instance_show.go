// Copyright The Reeve Authors
// SPDX-License-Identifier: Apache-2.0

package cli

import (
	"github.com/reeve-run/reeve/internal/cli/term"
	"github.com/reeve-run/reeve/internal/cli/view"
)

func instanceShowCommand(c *cli) *command {
	return &command{
		use:     "show JOB INSTANCE",
		aliases: []string{"status", "info"},
		short:   "Show an instance and its tasks",
		format:  true,
		run: func(r *call) error {
			id := r.args[0]
			i, _, err := r.cl.Instances().Get(r.ctx, id, r.args[1], nil)
			if err != nil {
				return err
			}
			return r.show(i, func(p *term.Page) { view.Instance(p, i) })
		},
	}
}
